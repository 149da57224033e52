-- The sliding log: a list of entries 'moment cost total', where total is the sum of
-- all costs since the list began, so that the sum of any part of it is a
-- difference. With refused 1 refusals are logged too.
--
-- The state is not the whole list but what is decided alike: the sum, the last
-- moment, the sum of the entries that a log of refusals then drops, and the sum
-- and the moment of those that have to leave the window for the request to pass.
kinds.log = function(key, cost, count, period, refused)
  local function entry(i)
    local text = redis.call('LINDEX', key, i)
    if not text then return nil end
    local at, own, total = string.match(text, '(%d+) (%d+) (%d+)')
    return {at = tonumber(at), cost = tonumber(own), total = tonumber(total)}
  end
  local first = entry(0)
  while first and first.at <= now - period do -- what has left the window never matters again
    redis.call('LPOP', key)
    first = entry(0)
  end
  local last = first and entry(-1)
  local gone = first and first.total - first.cost or 0 -- total of what was before the list
  local sum = last and last.total - gone or 0
  local admitted = sum + cost <= count

  local function log()
    if last and last.total + cost > most then -- the sums begin anew with the list
      for i = 0, redis.call('LLEN', key) - 1 do
        local e = entry(i)
        redis.call('LSET', key, i, whole(e.at) .. ' ' .. whole(e.cost) .. ' ' .. whole(e.total - gone))
      end
      last = entry(-1)
    end
    local at, own, total = now, cost, (last and last.total or 0) + cost
    if last and last.at >= now then
      redis.call('RPOP', key)
      at, own = last.at, last.cost + cost
    end
    redis.call('RPUSH', key, whole(at) .. ' ' .. whole(own) .. ' ' .. whole(total))
    -- What is followed by enough to fill the window has left it before that has.
    local oldest = refused == 1 and entry(0)
    while oldest and total - oldest.total >= count do
      redis.call('LPOP', key)
      oldest = entry(0)
    end
    redis.call('PEXPIRE', key, life(at + period - now))
  end

  -- reach is the first entry up to which the list comes to so much, or nil.
  local function reach(wanted)
    if sum < wanted then return nil end
    local low, high = 0, redis.call('LLEN', key) - 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      if entry(middle).total - gone >= wanted then high = middle else low = middle + 1 end
    end
    return entry(low)
  end

  local state = {sum, last and last.at or now, 0, 0, now}
  if not admitted then
    local wanted = sum + cost - count
    if refused == 1 then
      local over = reach(wanted)
      state[3] = over.total - gone
      -- What is of this moment is joined by the refusal, and stays with it.
      if state[3] > wanted or over.at >= now then state[3] = state[3] - over.cost end
      wanted = wanted + cost
    end
    local leaves = reach(wanted)
    if leaves then state[4], state[5] = leaves.total - gone, leaves.at end
  end
  return admitted, state, log, refused == 1 and log or nil
end

