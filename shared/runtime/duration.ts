/** `1h30m`, `15m`, `90s` in milliseconds, as our schemas allow them; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(?=.)(?:(\d{1,6})h)?(?:(\d{1,8})m)?(?:(\d{1,9})s)?$/.exec(text);
  if (match === null) return undefined;
  const [hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return (((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000;
}
