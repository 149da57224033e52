-- The start of the script that decides on one request: it may ask several
-- limits, one KEY each. ARGV is the moment in microseconds since 1970 (empty: the
-- time of this server), how many milliseconds longer than needed a key is kept,
-- and for each key: kind, cost, and four settings of the kind.
--
-- Numbers here are doubles. Whoever calls sees to it that no whole number gets
-- above 2^53, and so +, - and * are exact, and floor(a / b) is the whole quotient:
-- the nearest double of a fraction below a whole number of that size is below it.

local most = 9007199254740992 -- 2^53

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local spare = tonumber(ARGV[2])

-- kinds gives for each kind a function of key, cost and the settings. It looks
-- and writes nothing that could be seen. It returns whether the limit admits,
-- the state that this rests on, a function that spends, and for some kinds one
-- that notes a refusal.
local kinds = {}

-- whole writes a number in digits: tostring(2^50) is 1.1258999068426e+15.
local function whole(n) return string.format('%.0f', n) end

-- life is how long a key is kept that is as if unused after so many microseconds.
local function life(us) return whole(math.ceil(math.max(0, us) / 1000) + spare) end

-- fetch gives the numbers that are kept under a key, or nil.
local function fetch(key)
  local text = redis.call('GET', key)
  if not text then return nil end
  local state = {}
  for digits in string.gmatch(text, '%S+') do state[#state + 1] = tonumber(digits) end
  return state
end

-- keep writes the numbers and how long they matter, in one step.
local function keep(key, us, ...)
  local state = {...}
  for i, n in ipairs(state) do state[i] = whole(n) end
  redis.call('SET', key, table.concat(state, ' '), 'PX', life(us))
end

-- gain is what a time brings at num units a microsecond, at most room.
local function gain(us, num, room)
  if us > math.floor(most / num) then return room end
  return math.min(room, us * num)
end

-- floor is the last edge of a grid that is not after a moment.
local function floor(at, origin, period) return at - (at - origin) % period end

