import { NAME_PATTERN } from '@halyard/protocol';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useCreateProject } from '../../api/projects.ts';
import { links } from '../../browser/links.ts';
import { PlaceNameField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { messages } from './messages.ts';

/** Asks for the name of a new project. */
export function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [, navigate] = useLocation();
  const create = useCreateProject();
  const invalid = NAME_PATTERN.test(name) ? undefined : messages.nameInvalid;
  const form = useForm({
    problems: { name: name === '' ? messages.nameMissing : invalid },
    submit: async () => {
      await create.mutateAsync(name);
      navigate(links.flags(name));
    },
  });

  return (
    <FormDialog title={messages.create} form={form} action={messages.createAction} onClose={onClose}>
      <PlaceNameField
        texts={messages}
        error={name === '' ? form.problem('name') : invalid}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
}
