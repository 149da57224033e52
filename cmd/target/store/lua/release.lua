-- Gives back what was taken of concurrency limits. ARGV is for each key the name
-- of what was taken, and the cost.
for i, key in ipairs(KEYS) do
  for j = 1, tonumber(ARGV[2 * i]) do
    redis.call('ZREM', key, ARGV[2 * i - 1] .. '/' .. j)
  end
end
return 0
