-- The sliding window counter. A token is period units; full of them may be
-- estimated with the request.
kinds.counter = function(key, cost, full, period, origin)
  local start, before, current = floor(now, origin, period), 0, 0
  local state = fetch(key)
  if state then
    if state[1] >= start then
      start, before, current = state[1], state[2], state[3]
    elseif state[1] == start - period then
      before = state[3]
    end
  end
  local left = full - before * (start + period - math.max(now, start)) - (current + cost) * period
  return left >= 0, {start, before, current}, function()
    keep(key, start + 2 * period - now, start, before, current + cost)
  end
end

