/** `90`, `90.5`, `90s`, `15m`, `1h30m`, `2d` in seconds; undefined for anything else. */
export function secondsOf(text: string): number | undefined {
  if (/^\d{1,12}(\.\d{1,6})?$/.test(text)) return Number(text);
  const match = /^(?=.)(?:(\d{1,6})d)?(?:(\d{1,8})h)?(?:(\d{1,10})m)?(?:(\d{1,12})s)?$/.exec(text);
  if (match === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/** For people: `3 s`, `12 min`, `1.5 h`, `2.3 d`. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 1) return seconds === 0 ? "0 s" : `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} d`;
}
