import { Redis } from "ioredis";
import { type Attacker, tryAll } from "./attacker.ts";

/** Sees all that Redis holds, and the network to it. */
export async function redisReader(url: string, secret: string): Promise<Attacker & { readonly found: string[] }> {
  const redis = new Redis(url);
  redis.on("error", () => {});
  const found: string[] = [];
  const look = (text: string): void => {
    if (text.includes(secret) || text.includes(Buffer.from(secret).toString("base64").slice(0, -4))) found.push(text);
  };
  const monitor = await redis.monitor();
  monitor.on("monitor", (_time: string, args: string[]) => look(args.join(" ")));
  return {
    name: "a reader of Redis",
    found,
    async attack() {
      for (const key of await redis.keys("*")) {
        const type = await redis.type(key).catch(() => "");
        if (type === "hash") look(JSON.stringify(await redis.hgetall(key).catch(() => ({}))));
        if (type === "string") look((await redis.get(key).catch(() => "")) ?? "");
      }
      await tryAll(redis.set("mine", "1"), redis.lpush("{jobferry-east}:deliveries:wait", "1"));
    },
    async stop() {
      monitor.disconnect();
      redis.disconnect();
    },
  };
}
