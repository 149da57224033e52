-- limit_req of nginx: thousandths of excess, milliseconds, and what it cuts off.
kinds.nginx = function(key, cost, rate, burst)
  local time = math.floor(now / 1000)
  local level, last = -1000, time
  local state = fetch(key)
  if state then level, last = state[1], state[2] end
  local ms = time - last
  if ms < -60000 then ms = 1 elseif ms < 0 then ms = 0 end
  local first = 0
  if ms <= math.floor(most / rate) then
    first = math.max(0, level - math.floor(rate * ms / 1000) + 1000)
  end
  local excess = first + (cost - 1) * 1000
  return excess <= burst, {level, last}, function()
    local stamp = ms > 0 and time or last
    keep(key, ((excess + 1000) * 1000 / rate + 1 + stamp - time) * 1000, excess, stamp)
  end
end

