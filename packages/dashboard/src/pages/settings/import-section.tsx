import FileUp from 'lucide-react/icons/file-up';
import { type DragEvent, lazy, useRef, useState } from 'react';
import type { ProjectDocument } from '../../api/documents.ts';
import { newReference } from '../../api/lost-answers.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { DialogPart } from '../../components/dialog-part.tsx';
import { toast } from '../../components/toasts.tsx';
import { messages } from './import-messages.ts';

const ImportDialog = lazy(async () => ({ default: (await import('./import-dialog.tsx')).ImportDialog }));

/** The largest document that the server takes, in bytes. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Takes a document, chosen or dropped, and opens the comparison with the project. */
export function ImportSection({ project }: { project: ProjectRecord }) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
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

  function over(event: DragEvent): void {
    event.preventDefault();
    setOver(true);
  }

  return (
    <>
      <p className="text-ink-2">{messages.hint}</p>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same */}
      <div
        data-drop
        onDragEnter={over}
        onDragOver={over}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void read(event.dataTransfer.files[0]);
        }}
        className={classNames(
          'mt-3 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-dashed p-3',
          isOver ? 'border-accent bg-accent-soft' : 'border-line-strong',
        )}
      >
        <Button onClick={() => input.current?.click()}>
          <FileUp size={14} aria-hidden /> {messages.choose}
        </Button>
        <span aria-hidden className="text-ink-3 [@media(hover:none)]:hidden">
          {messages.drop}
        </span>
        <input
          ref={input}
          type="file"
          accept=".yaml,.yml,.json,application/json,application/yaml"
          aria-label={messages.file}
          className="hidden"
          onChange={({ target }) => {
            void read(target.files?.[0]);
            // Choosing the same file once more is a change again.
            target.value = '';
          }}
        />
      </div>
      {document !== undefined && (
        <DialogPart title={messages.dialog(document.name)} onClose={() => setDocument(undefined)}>
          <ImportDialog project={project} document={document} onClose={() => setDocument(undefined)} />
        </DialogPart>
      )}
    </>
  );
}
