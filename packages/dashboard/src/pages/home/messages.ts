import { LOCALE } from '../../components/time-ago.tsx';

const whole = new Intl.NumberFormat(LOCALE);

/** The texts of the list of projects, and of a page that does not exist. */
export const messages = {
  title: 'Projects',
  create: 'New project',
  emptyTitle: 'Create your first project',
  empty:
    'A project holds the flags of one product. It starts with the environments development, staging and production.',
  noRoleTitle: 'No projects for you yet',
  noRole: 'You have no role in any project. Ask an administrator for one.',
  search: 'Search projects',
  noMatches: (query: string) => `No projects match “${query}”.`,

  columns: [
    { label: 'Project', sortKey: 'name' },
    { label: 'Flags', sortKey: 'flags' },
    { label: 'Environments', sortKey: 'environments' },
    { label: 'Streams', sortKey: 'streams' },
    { label: 'Last change', sortKey: 'changed' },
    { label: 'Attention', sortKey: 'attention' },
  ],
  count: (count: number) => whole.format(count),
  star: (project: string) => `Star ${project}`,
  noChange: 'None yet',
  andMore: (count: number) => ` and ${count > 98 ? '99+' : count} more`,
  failing: (count: number) => (count === 1 ? '1 webhook failing' : `${count} webhooks failing`),
  waiting: (count: number) => (count === 1 ? '1 proposal waiting' : `${count} proposals waiting`),
  running: (count: number) => (count === 1 ? '1 plan running' : `${count} plans running`),

  createAction: 'Create project',
  name: 'Name',
  nameHint: "The name is part of URLs and can't be changed later.",
  nameMissing: 'Enter a name.',
  nameInvalid: 'Use lowercase letters, digits and “-”, starting with a letter or digit.',
  namePlaceholder: 'shop',

  notFound: 'Page not found',
  notFoundTitle: 'There is nothing at this address',
  notFoundHint: 'The address may be mistyped, or the page has moved.',
  allProjects: 'All projects',
} as const;
