import { useEffect, useRef, useState } from 'react';
import { isOwnWrite } from '../../api/own-writes.ts';
import type { StateRecord } from '../../api/types.ts';

/** How long somebody else's change is highlighted, in milliseconds. */
const NEWS_MS = 2_400;

/** Whether somebody else has changed this state a moment ago, while it was on the screen. */
export function useNews(record: StateRecord | undefined): boolean {
  const seen = useRef(record);
  const [isNews, setNews] = useState(false);
  useEffect(() => {
    const before = seen.current;
    seen.current = record;
    const isOther = record?.revision !== before?.revision && !(record !== undefined && isOwnWrite(record));
    if (!isOther || record === before) return;
    setNews(true);
    const timer = setTimeout(() => setNews(false), NEWS_MS);
    return () => clearTimeout(timer);
  }, [record]);
  return isNews;
}
