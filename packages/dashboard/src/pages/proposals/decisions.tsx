import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { isProposed, isRefusal } from '../../api/api-error.ts';
import { useCatchUp } from '../../api/live.tsx';
import { type Decision, decideProposal, proposeAgain } from '../../api/proposals.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan } from '../../api/session.ts';
import type { ProposalRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { NOTE_LENGTH } from '../../changes/note-field.tsx';
import { ProtectedNote } from '../../changes/protected-note.tsx';
import { toastFailure } from '../../components/actions.tsx';
import { Button } from '../../components/button.tsx';
import { DeliveryProof } from '../../components/delivery-proof.tsx';
import { TextField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { messages as components } from '../../components/messages.ts';
import { toast } from '../../components/toasts.tsx';
import { isWaiting, type Part, usePartOf } from '../../flags/proposals/part-of.ts';
import { usePlaces } from '../../flags/proposals/proposal-places.tsx';
import { titleOf } from '../../flags/proposals/proposal-words.ts';
import { messages } from './messages.ts';

/** The buttons of a proposal for this person, or why there are none. */
export function Decisions({ proposal, needed }: { proposal: ProposalRecord; needed: number }) {
  const [deciding, setDeciding] = useState<Decision>();
  const part = usePartOf()(proposal);
  const canEdit = useCan('editor');
  const [main] = ORDER.filter((decision) => part.may.has(decision));
  const reason = reasonOf(proposal, part);

  return (
    <>
      {reason !== undefined && <p className="mt-1 text-ink-2">{reason}</p>}
      <div className="mt-3 flex flex-wrap gap-2 empty:hidden">
        {ORDER.filter((decision) => part.may.has(decision)).map((decision) => (
          <Button
            key={decision}
            kind={decision === main && decision !== 'withdraw' ? 'primary' : 'plain'}
            onClick={() => setDeciding(decision)}
          >
            {messages.decisions[decision]}
          </Button>
        ))}
        {canEdit && AGAIN.has(proposal.status) && <Again proposal={proposal} />}
      </div>
      {deciding !== undefined && (
        <DecisionDialog
          proposal={proposal}
          decision={deciding}
          isLast={proposal.approvals.length + 1 >= needed}
          onClose={() => setDeciding(undefined)}
        />
      )}
    </>
  );
}

const ORDER: readonly Decision[] = ['approve', 'apply', 'acknowledge', 'reject', 'withdraw'];

/** What can be proposed again: what has ended without a change. */
const AGAIN: ReadonlySet<ProposalRecord['status']> = new Set([
  'outdated',
  'expired',
  'rejected',
  'withdrawn',
]);

/** Why the person cannot approve or acknowledge; `undefined` where that needs no word. */
function reasonOf(proposal: ProposalRecord, { isOwn, hasApproved, may }: Part): string | undefined {
  const { status } = proposal;
  if (!isWaiting(proposal) || may.has('approve') || may.has('apply') || may.has('acknowledge'))
    return undefined;
  if (isOwn) return status === 'emergency' ? messages.ownEmergency : messages.own;
  return hasApproved ? messages.approvedAlready : messages.noRight;
}

/** Asks for what a decision needs: the name of the environment where it may change something, and why it is rejected. */
function DecisionDialog({
  proposal,
  decision,
  isLast,
  onClose,
}: {
  proposal: ProposalRecord;
  decision: Decision;
  isLast: boolean;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const catchUp = useCatchUp();
  const [typed, setTyped] = useState('');
  const [note, setNote] = useState('');
  const wanted = proposal.environments.join(', ');
  const isTyped = decision === 'approve' || decision === 'apply';
  const takesNote = decision === 'reject' || decision === 'acknowledge';
  const form = useForm({
    problems: {
      typed: isTyped && typed.trim() !== wanted ? components.typeExactly(wanted) : undefined,
      note: decision === 'reject' && note.trim() === '' ? messages.rejectNoteMissing : undefined,
    },
    submit: async () => {
      try {
        const decided = await decideProposal(proposal, decision, note.trim());
        catchUp();
        announceDone(decision, decided);
      } catch (error) {
        // The page shows what became of it.
        if (!isRefusal(error, 'revision_conflict') && !isRefusal(error, 'proposal_closed')) throw error;
        const isOutdated = error.code === 'revision_conflict';
        toast({ kind: 'news', title: isOutdated ? messages.outdatedNow : messages.alreadyDecided });
      }
      await queries.invalidateQueries({ queryKey: queryKeys.proposals(proposal.project) });
      onClose();
    },
    stale: [queryKeys.proposals(proposal.project)],
  });

  return (
    <FormDialog
      title={messages.questions[decision]}
      form={form}
      action={messages.decisions[decision]}
      kind={decision === 'reject' || decision === 'withdraw' ? 'danger' : 'primary'}
      focused={isTyped || takesNote ? undefined : 'action'}
      onClose={onClose}
    >
      <p className="font-medium wrap-anywhere" data-description>
        {messages.subject(titleOf(proposal), wanted)}
      </p>
      <Effect proposal={proposal} decision={decision} isLast={isLast} />
      {isTyped && (
        <TextField
          label={components.typeToConfirm(wanted)}
          error={form.problem('typed')}
          data-autofocus
          autoCapitalize="off"
          spellCheck={false}
          value={typed}
          onChange={setTyped}
        />
      )}
      {takesNote && (
        <TextField
          label={decision === 'reject' ? messages.rejectNote : messages.optionalNote}
          hint={decision === 'reject' ? messages.rejectNoteHint : messages.optionalNoteHint}
          error={form.problem('note')}
          maxLength={NOTE_LENGTH}
          data-autofocus
          value={note}
          onChange={setNote}
        />
      )}
    </FormDialog>
  );
}

/** What a decision does, and who gets it. */
function Effect({
  proposal,
  decision,
  isLast,
}: {
  proposal: ProposalRecord;
  decision: Decision;
  isLast: boolean;
}): ReactNode {
  const { project, hold } = proposal;
  const places = usePlaces(proposal);
  const isMadeNow = decision === 'apply' || (decision === 'approve' && isLast && !hold);
  const text = decision === 'approve' ? messages.effects.approve(isLast, hold) : messages.effects[decision];
  return (
    <>
      <p className="text-ink-2" data-description>
        {text}
      </p>
      {isMadeNow &&
        places.map((environment) => (
          <ProtectedNote key={environment.name} project={project} environment={environment} />
        ))}
    </>
  );
}

function announceDone(decision: Decision, { status, seq }: ProposalRecord): void {
  const title = decision === 'approve' && status === 'applied' ? messages.madeNow : messages.done[decision];
  toast({ kind: 'done', title, detail: status === 'applied' && <DeliveryProof seq={seq} /> });
}

/** Proposes the same change on what is in effect now, and shows the new proposal. */
function Again({ proposal }: { proposal: ProposalRecord }) {
  const [, navigate] = useLocation();
  const { askApproval } = useChangeGuards();
  const { project, note } = proposal;
  const environments = usePlaces(proposal);

  async function propose(): Promise<void> {
    const wanted = await askApproval({ project, environments, what: titleOf(proposal), note });
    if (wanted === undefined) return;
    try {
      await proposeAgain(proposal, wanted);
    } catch (error) {
      // Its message is the new proposal.
      if (!isProposed(error)) return toastFailure(messages.againFailed, error);
      const { id } = JSON.parse(error.message) as ProposalRecord;
      navigate(links.proposal(project, id));
    }
  }

  return (
    <>
      <Button kind="primary" onClick={() => void propose()}>
        {messages.again}
      </Button>
      <p className="basis-full text-xs text-ink-3">{messages.againHint}</p>
    </>
  );
}
