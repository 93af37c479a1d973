/**
 * Pieces of Lua that several scripts share. Each is a set of local functions to be put at the head of a script's text.
 *
 * Rules that every script keeps (test/unit/busScripts.test.ts checks them): entry ids are compared as text, never as numbers; counts
 * that may exceed 2^53 are answered as text; XADD comes before XACK, because an error rolls nothing back; every key is in KEYS.
 */

/** `text(n)`: a double as plain decimal digits. `now()`: the server's clock in milliseconds. */
export const luaNumbers = `
local function text(n) return string.format('%.0f', n) end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** `iso(ms)`: milliseconds since the epoch as ISO 8601, by the civil calendar. */
export const luaIso = `
local function iso(ms)
  local seconds = math.floor(ms / 1000)
  local day = math.floor(seconds / 86400)
  local rest = seconds - day * 86400
  local shifted = day + 719468
  local era = math.floor(shifted / 146097)
  local dayOfEra = shifted - era * 146097
  local yearOfEra = math.floor((dayOfEra - math.floor(dayOfEra / 1460) + math.floor(dayOfEra / 36524) - math.floor(dayOfEra / 146096)) / 365)
  local dayOfYear = dayOfEra - (365 * yearOfEra + math.floor(yearOfEra / 4) - math.floor(yearOfEra / 100))
  local shiftedMonth = math.floor((5 * dayOfYear + 2) / 153)
  local dayOfMonth = dayOfYear - math.floor((153 * shiftedMonth + 2) / 5) + 1
  local month = shiftedMonth < 10 and shiftedMonth + 3 or shiftedMonth - 9
  local year = yearOfEra + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, dayOfMonth,
    math.floor(rest / 3600), math.floor(rest / 60) % 60, rest % 60, ms - seconds * 1000)
end
`;

/**
 * `pendingRow(group, id)`: the pending row of an id of KEYS[1], or nil. `refusal(row, at)`: why the guard that starts at ARGV[at]
 * (owner, minIdle, deliveries, latest) forbids a change, or nil. Needs `luaNumbers`.
 */
export const luaGuard = `
-- Before any row is read: a clock read after it would make the entry look delivered later than it was.
local started = now()
local function pendingRow(group, id)
  return redis.call('XPENDING', KEYS[1], group, id, id, 1)[1]
end
local function refusal(row, at)
  if not row then return {'not-pending'} end
  local owner, idle, count = row[2], row[3], row[4]
  local wantedOwner, minIdle, deliveries, latest = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], ARGV[at + 3]
  if wantedOwner ~= '*' and wantedOwner ~= '=' .. owner then return {'owner-changed', owner} end
  if idle >= 0 and idle < minIdle then return {'too-fresh', text(idle)} end
  local wanted = tonumber(string.sub(deliveries, 2))
  if string.sub(deliveries, 1, 1) == '=' and count ~= wanted then return {'deliveries-changed', text(count)} end
  if string.sub(deliveries, 1, 1) == '>' and count >= 0 and count < wanted then return {'too-few-deliveries', text(count)} end
  if latest ~= '*' and idle >= 0 then
    local delivered = started - idle
    if delivered > tonumber(latest) then return {'delivered-later', text(delivered)} end
  end
  return nil
end
`;

/** `typeOf(key)`: the type of a key as text. */
export const luaType = `
local function typeOf(key)
  local reply = redis.call('TYPE', key)
  return type(reply) == 'table' and reply['ok'] or reply
end
`;

/** `isBefore(a, b)`: whether entry id `a` is smaller than `b`, without ever making a number of them. */
export const luaIds = `
local function isLess(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end
local function isBefore(a, b)
  local aMs, aSeq = string.match(a, '^(%d+)%-(%d+)$')
  local bMs, bSeq = string.match(b, '^(%d+)%-(%d+)$')
  if aMs ~= bMs then return isLess(aMs, bMs) end
  return isLess(aSeq, bSeq)
end
`;

/** `record(flat)`: a flat list of names and values, such as a row of XINFO, as a table. */
export const luaRecord = `
local function record(flat)
  local found = {}
  for i = 1, #flat, 2 do found[flat[i]] = flat[i + 1] end
  return found
end
`;

/**
 * `take(group, consumer, row, maxDeliveries)`: takes one pending entry over and counts a delivery. Answers the state and the row to
 * report: `taken` (with fields), `over` (its deliveries are used up: taken without counting), `gone` (its message is no more; it is
 * removed from the pending entries). Needs `luaNumbers`.
 */
export const luaTake = `
local function take(group, consumer, row, maxDeliveries)
  local id, owner, idle, count = row[1], row[2], row[3], row[4]
  local entry = redis.call('XRANGE', KEYS[1], id, id)[1]
  if not entry then
    redis.call('XACK', KEYS[1], group, id)
    return 'gone', id
  end
  if count >= maxDeliveries then
    redis.call('XCLAIM', KEYS[1], group, consumer, 0, id, 'JUSTID')
    return 'over', {id, text(count), text(idle), owner}
  end
  if count < 0 then
    redis.call('XCLAIM', KEYS[1], group, consumer, 0, id, 'RETRYCOUNT', 1, 'JUSTID')
  else
    redis.call('XCLAIM', KEYS[1], group, consumer, 0, id)
  end
  return 'taken', {id, text(count < 0 and 1 or count + 1), text(idle), owner, entry[2]}
end
`;
