-- All limits are asked; nothing is spent unless all admit. The answer is the
-- moment, and for each key whether its limit admits, and its state.
local answer, spends, notes = {now}, {}, {}
local all = true
for i, key in ipairs(KEYS) do
  local at = 6 * i - 3
  local settings = {}
  for j = 1, 5 do settings[j] = tonumber(ARGV[at + j]) end
  local admits, state, spend, note = kinds[ARGV[at]](key, unpack(settings))
  table.insert(state, 1, admits and 1 or 0)
  answer[i + 1] = state
  spends[i] = spend
  if not admits then
    all = false
    notes[#notes + 1] = note
  end
end
for _, write in ipairs(all and spends or notes) do write() end
return answer
