-- The concurrency limit: one member for each token in use, with the moment it was
-- taken. One that is not given back within the lease is free again: whoever has
-- it has crashed. The state is how many are in use, and the name of what is taken.
kinds.busy = function(key, cost, burst, lease)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', whole(now - lease))
  local used = redis.call('ZCARD', key)
  local name = now
  while redis.call('ZSCORE', key, whole(name) .. '/1') do name = name + 1 end
  return used + cost <= burst, {used, name}, function()
    for i = 1, cost do redis.call('ZADD', key, whole(now), whole(name) .. '/' .. i) end
    redis.call('PEXPIRE', key, life(lease))
  end
end

