-- The token bucket, and the meter, whose water is what is missing here. A token
-- is unit units, num are gained in a microsecond, and full fit in.
kinds.bucket = function(key, cost, num, unit, full)
  local level, last = full, now
  local state = fetch(key)
  if state then
    level, last = state[1], state[2]
    if now > last then
      level, last = level + gain(now - last, num, full - level), now
    end
  end
  local left = level - cost * unit
  return left >= 0, {level, last}, function()
    keep(key, (full - left) / num + last - now, left, last)
  end
end

