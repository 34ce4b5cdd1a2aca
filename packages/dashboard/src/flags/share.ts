/** A typed percentage as a number; `NaN` for anything else. A comma counts as the decimal point. */
export function shareOf(pct: string): number {
  const text = pct.trim().replace(',', '.');
  return text === '' ? Number.NaN : Number(text);
}
