import TriangleAlert from 'lucide-react/icons/triangle-alert';
import type { ReactNode } from 'react';
import { useClients } from '../api/clients.ts';
import type { EnvironmentRecord } from '../api/types.ts';
import { EnvironmentBadge } from '../components/badges.tsx';
import { messages } from './dialog-messages.ts';

/** Says that an environment is protected, and how many clients get a change immediately. */
export function ProtectedNote({
  project,
  environment,
  isLater = false,
  children,
}: {
  project: string;
  environment: EnvironmentRecord;
  /** The change is scheduled, so the clients connected now do not matter. */
  isLater?: boolean;
  /** What else to know about the change there. */
  children?: ReactNode;
}) {
  return (
    <p className="flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
      <TriangleAlert size={16} className="shrink-0" aria-hidden />
      <span className="flex min-w-0 flex-wrap items-center gap-x-1.5">
        <EnvironmentBadge environment={environment} className="font-medium" /> {messages.isProtected}
        {children}
        {!isLater && <ConnectedClients project={project} environment={environment.name} />}
      </span>
    </p>
  );
}

/** How many clients get a change immediately. */
export function ConnectedClients({ project, environment }: { project: string; environment: string }) {
  const { data } = useClients(project);
  const streams = data?.find((each) => each.environment === environment)?.streams;
  if (streams === undefined) return null;
  return <span>{streams === 0 ? messages.noClients : messages.clients(streams)}</span>;
}
