import FileUp from 'lucide-react/icons/file-up';
import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import type { ProjectDocument } from '../../api/documents.ts';
import { newReference } from '../../api/lost-answers.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { DialogPart } from '../../components/dialog-part.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import { toast } from '../../components/toasts.tsx';
import { messages } from './import-messages.ts';

const ImportDialog = lazyPart(() => import('./import-dialog.tsx'), 'ImportDialog');

/** The largest document that the server takes, in bytes. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Takes a document, chosen or dropped, and opens the comparison with the project. */
export function ImportSection({ project }: { project: ProjectRecord }) {
  const [document, setDocument] = useState<ProjectDocument>();

  async function read(file: File | undefined): Promise<void> {
    if (file === undefined) return;
    const { name } = file;
    try {
      if (file.size > MOST_BYTES)
        toast({ kind: 'problem', title: messages.unreadable(name), detail: messages.tooLarge });
      else setDocument({ id: newReference(), name, text: await file.text() });
    } catch {
      // It was moved or deleted after it was chosen, or is a folder.
      toast({ kind: 'problem', title: messages.unreadable(name) });
    }
  }

  return (
    <>
      <p className="text-ink-2">{messages.hint}</p>
      <DropZone onDrop={(file) => void read(file)}>
        <FileButton onChoose={(file) => void read(file)} />
        <span aria-hidden className="text-ink-3 [@media(hover:none)]:hidden">
          {messages.drop}
        </span>
      </DropZone>

      {document !== undefined && (
        <DialogPart title={messages.dialog(document.name)} onClose={() => setDocument(undefined)}>
          <ImportDialog project={project} document={document} onClose={() => setDocument(undefined)} />
        </DialogPart>
      )}
    </>
  );
}

/** The place that files can be dropped on. */
function DropZone({ onDrop, children }: { onDrop: (file: File | undefined) => void; children: ReactNode }) {
  const [isOver, setOver] = useState(false);

  function over(event: DragEvent): void {
    event.preventDefault();
    setOver(true);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same
    <div
      data-drop
      onDragEnter={over}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onDrop(event.dataTransfer.files[0]);
      }}
      className={classNames(
        'mt-3 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-dashed p-3',
        isOver ? 'border-accent bg-accent-soft' : 'border-line-strong',
      )}
    >
      {children}
    </div>
  );
}

/** A button that opens the browser's file picker. */
function FileButton({ onChoose }: { onChoose: (file: File | undefined) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button onClick={() => input.current?.click()}>
        <FileUp size={14} aria-hidden />
        {messages.choose}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".yaml,.yml,.json,application/json,application/yaml"
        aria-label={messages.file}
        className="hidden"
        onChange={({ target }) => {
          onChoose(target.files?.[0]);
          // Choosing the same file once more is a change again.
          target.value = '';
        }}
      />
    </>
  );
}
