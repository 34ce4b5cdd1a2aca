/** The texts about flags in code. */
export const messages = {
  title: 'In the code',
  found: (places: number, files: number) =>
    `${places === 1 ? '1 place' : `${places} places`} in ${files === 1 ? '1 file' : `${files} files`}`,
  foundIn: (places: number, repositories: number) => `${places} places in ${repositories} repositories`,
  notFound: 'no place found',
  notFoundIn: (repositories: number) => `no place found in ${repositories} repositories`,
  oldest: 'oldest report',
  showAll: (count: number) => `Show ${count} places`,
  morePlaces: (count: number) => (count === 1 ? 'and 1 more place' : `and ${count} more places`),
  placesOf: (repository: string) => `Places in ${repository}`,
  note: 'Found by “halyard refs --report”, which misses keys that the code builds at run time.',
} as const;
