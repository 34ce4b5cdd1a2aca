/** Functions to call when something happens. */
export interface Watchers<News> {
  /** Calls `watcher` each time. Returns the function that stops it. */
  readonly watch: (watcher: (news: News) => void) => () => void;
  readonly tell: (news: News) => void;
}

/** Creates an empty set of watchers. Both functions are stable. */
export function createWatchers<News = void>(): Watchers<News> {
  const watchers = new Set<(news: News) => void>();
  return {
    watch: (watcher) => {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    tell: (news) => {
      for (const watcher of watchers) watcher(news);
    },
  };
}
