-- The token bucket that is refilled count at a time, every period. origin is an
-- edge of the grid, or -1: each key's time begins with a request that finds it
-- full.
kinds.lumps = function(key, cost, burst, count, period, origin)
  local level, mark = burst, now
  if origin >= 0 then mark = floor(now, origin, period) end
  local state = fetch(key)
  if state then
    level, mark = state[1], state[2]
    local passed = math.floor(math.max(0, now - mark) / period)
    if passed > math.floor((burst - level) / count) then
      level = burst
    else
      level = level + passed * count
    end
    if origin < 0 and level == burst then
      mark = math.max(mark, now)
    else
      mark = mark + passed * period
    end
  end
  local left = level - cost
  return left >= 0, {level, mark}, function()
    keep(key, math.ceil((burst - left) / count) * period + mark - now, left, mark)
  end
end

