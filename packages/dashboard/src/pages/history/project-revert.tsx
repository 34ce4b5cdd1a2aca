import { useProject } from '../../api/projects.ts';
import { RevertDialog } from '../../components/audit/revert-dialog.tsx';

/** Reverts a change of a project, once it is known which environments of it are protected. */
export function ProjectRevert({
  project,
  seq,
  onClose,
}: {
  project: string;
  seq: number;
  onClose: () => void;
}) {
  const { data, isError } = useProject(project);
  // Without them the server asks for a confirmation that this dialog does not have: it says so.
  if (data === undefined && !isError) return null;
  return <RevertDialog seq={seq} environments={data?.environments ?? []} onClose={onClose} />;
}
