/**
 * How a message gets into the hands of its receiver and leaves them. BullMQ's own scripts for this trust the job's hash:
 * its options, its size, and the parent and child keys in it. An agent can write the hashes of its prefix, so with the
 * manager's rights they would follow it into other clusters. These read three fields, return a bounded text, and touch
 * nothing but KEYS and keys that begin with the box's own. They keep BullMQ's layout, so its producers and tools work.
 */

/** BullMQ's scores of delayed jobs leave 12 bits for the order within a millisecond. */
const MS = 4096;

/**
 * KEYS 1 wait, 2 active, 3 prioritized, 4 delayed, 5 marker;
 * ARGV 1 key prefix, 2 lock token, 3 lock ms, 4 now in ms, 5 largest text.
 * Answers {id, tries, text or false if that is too large}, or {false, due time of the next delayed message or 0}.
 */
const take = `
local due = redis.call("ZRANGEBYSCORE", KEYS[4], 0, (tonumber(ARGV[4]) + 1) * ${MS} - 1, "LIMIT", 0, 100)
for _, id in ipairs(due) do
  redis.call("ZREM", KEYS[4], id)
  local priority = tonumber(redis.call("HGET", ARGV[1] .. id, "priority")) or 0
  if priority == 0 then redis.call("RPUSH", KEYS[1], id)
  else redis.call("ZADD", KEYS[3], priority * 4294967296, id) end
end
local id = redis.call("RPOPLPUSH", KEYS[1], KEYS[2])
if not id then
  id = redis.call("ZPOPMIN", KEYS[3])[1]
  if not id then
    local first = redis.call("ZRANGE", KEYS[4], 0, 0, "WITHSCORES")
    return {false, math.floor((tonumber(first[2]) or 0) / ${MS})}
  end
  redis.call("LPUSH", KEYS[2], id)
end
if redis.call("LLEN", KEYS[1]) > 0 or redis.call("ZCARD", KEYS[3]) > 0 then redis.call("ZADD", KEYS[5], 0, "0") end
local hash = ARGV[1] .. id
redis.call("SET", hash .. ":lock", ARGV[2], "PX", ARGV[3])
local tries = redis.call("HINCRBY", hash, "ats", 1)
if redis.call("HSTRLEN", hash, "data") > tonumber(ARGV[5]) then return {id, tries, false} end
return {id, tries, redis.call("HGET", hash, "data") or ""}`;

/** KEYS 1 active, 2 stalled, 3 the job's hash, 4 its lock; ARGV 1 id, 2 lock token. 0: the message is somebody else's. */
const RELEASE = `
if redis.call("GET", KEYS[4]) ~= ARGV[2] then return 0 end
redis.call("DEL", KEYS[4])
redis.call("SREM", KEYS[2], ARGV[1])
redis.call("LREM", KEYS[1], -1, ARGV[1])
`;

const done = `${RELEASE}
redis.call("DEL", KEYS[3])
return 1`;

/** KEYS 5 delayed, 6 marker; ARGV 3 due time in ms, 4 reason. */
const retry = `${RELEASE}
if redis.call("EXISTS", KEYS[3]) == 0 then return 1 end
redis.call("HSET", KEYS[3], "failedReason", ARGV[4])
redis.call("ZADD", KEYS[5], tonumber(ARGV[3]) * ${MS}, ARGV[1])
local first = redis.call("ZRANGE", KEYS[5], 0, 0, "WITHSCORES")
redis.call("ZADD", KEYS[6], tonumber(first[2]) / ${MS}, "1")
return 1`;

/** KEYS 5 failed; ARGV 3 now in ms, 4 reason, 5 how many to keep, 6 largest text to keep, 7 key prefix. */
const quarantine = `${RELEASE}
if redis.call("HSTRLEN", KEYS[3], "data") > tonumber(ARGV[6]) then redis.call("HDEL", KEYS[3], "data") end
redis.call("HSET", KEYS[3], "failedReason", ARGV[4], "finishedOn", ARGV[3])
redis.call("ZADD", KEYS[5], ARGV[3], ARGV[1])
local surplus = math.min(redis.call("ZCARD", KEYS[5]) - tonumber(ARGV[5]), 100)
if surplus > 0 then
  for _, id in ipairs(redis.call("ZRANGE", KEYS[5], 0, surplus - 1)) do redis.call("DEL", ARGV[7] .. id) end
  redis.call("ZREMRANGEBYRANK", KEYS[5], 0, surplus - 1)
end
return 1`;

/**
 * Hands out again what a receiver took and did not settle: its lock has ended. KEYS 1 active, 2 wait, 3 marker; ARGV 1 key prefix,
 * 2 how many to look at. Each look turns the list by one, so that its cost does not grow with what somebody planted there, and
 * the next sweep goes on where this one ended. BullMQ's own goes through the whole list for every message in it.
 */
const sweep = `
local returned = 0
for _ = 1, math.min(redis.call("LLEN", KEYS[1]), tonumber(ARGV[2])) do
  local id = redis.call("RPOPLPUSH", KEYS[1], KEYS[1])
  local hash = ARGV[1] .. id
  if redis.call("EXISTS", hash .. ":lock") == 0 then
    redis.call("LREM", KEYS[1], 1, id)
    if redis.call("EXISTS", hash) == 1 then
      redis.call("RPUSH", KEYS[2], id)
      returned = returned + 1
    end
  end
end
if returned > 0 then redis.call("ZADD", KEYS[3], 0, "0") end
return returned`;

export const SCRIPTS = {
  jobferryTake: { lua: take, numberOfKeys: 5 },
  jobferryDone: { lua: done, numberOfKeys: 4 },
  jobferryRetry: { lua: retry, numberOfKeys: 6 },
  jobferrySweep: { lua: sweep, numberOfKeys: 3 },
  jobferryQuarantine: { lua: quarantine, numberOfKeys: 5 },
} as const;
