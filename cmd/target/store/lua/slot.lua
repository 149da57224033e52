-- The generic cell rate algorithm, and the queue: the moment from which on nothing
-- is booked, as whole microseconds and num-ths of one.
kinds.slot = function(key, cost, num, unit, full)
  local at, part = now, 0
  local state = fetch(key)
  if state and (state[1] > now or state[1] == now and state[2] > 0) then
    at, part = state[1], state[2]
  end
  -- move is so many units of time later or earlier; a microsecond is num.
  local function move(at, part, units)
    local us = math.floor(units / num)
    part = part + units - us * num
    if part >= num then return at + us + 1, part - num end
    return at + us, part
  end
  local to, topart = move(at, part, cost * unit)
  local from, frompart = move(to, topart, -full)
  return from < now or from == now and frompart == 0, {at, part}, function()
    keep(key, to - now + 1, to, topart)
  end
end

