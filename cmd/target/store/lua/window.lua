-- The fixed window. origin is an edge, or -1: a window begins with the first
-- request that it admits.
kinds.window = function(key, cost, count, period, origin)
  local start, spent = now, 0
  if origin >= 0 then start = floor(now, origin, period) end
  local state = fetch(key)
  if state then
    if origin < 0 and now - state[1] < period or origin >= 0 and state[1] >= start then
      start, spent = state[1], state[2]
    end
  end
  return spent + cost <= count, {start, spent}, function()
    keep(key, start + period - now, start, spent + cost)
  end
end

