/**
 * Scripts that agents of the previous release run. They may run nothing but what the manager has loaded, and a fleet is upgraded
 * manager first: so the manager loads these too. At a release they give way to what scripts.ts had before it. Its sweep is not
 * among them, since it looked at as many messages as it was told to: what a crashed agent had in hand waits for the upgrade.
 */
import { addStandardJob } from "bullmq/dist/esm/scripts/addStandardJob-9.js";

const RELEASE = `
if redis.call("GET", KEYS[4]) ~= ARGV[2] then return 0 end
redis.call("DEL", KEYS[4])
redis.call("SREM", KEYS[2], ARGV[1])
redis.call("LREM", KEYS[1], -1, ARGV[1])
`;

const done = `${RELEASE}
redis.call("DEL", KEYS[3])
return 1`;

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

export const PREVIOUS_SCRIPTS: readonly string[] = [done, quarantine, addStandardJob.content];
