import type { Role } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, checkEmail, Form, fault, TextField, useForm } from '../ui/index.ts';
import { RoleChoice } from './role-choice.tsx';

/** Draft of an invitation. */
export const INVITATION_DRAFT = 'invitation';

interface Values {
  readonly email: string;
  readonly role: Role;
}

/** Invites a person by mail, with a role. */
export const InviteDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
  const { members, session, errors } = useI18n().messages;
  const toast = useToast();
  const create = useApiMutation('createInvitation', { refreshes: ['listInvitations'] });
  const form = useForm<Values>({
    draft: INVITATION_DRAFT,
    initial: { email: '', role: 'developer' },
    check: ({ email }) => checkEmail('email', email),
    submit: async ({ email, role }) => {
      const invitation = await create.mutateAsync({ body: { email: email.trim(), role } });
      toast(members.invited(invitation.email));
      onClose();
    },
    faultFor: ({ code }) => (code === 'already_member' ? fault('email', errors.next.already_member) : undefined),
  });
  return (
    <Dialog onClose={onClose} title={members.invite}>
      <Form form={form} label={members.invite}>
        <TextField
          label={session.email}
          hint={members.inviteHint}
          type="email"
          autoComplete="off"
          value={form.values.email}
          onChange={(email) => form.set('email', email)}
          fault={form.faultOf('email')}
        />
        <RoleChoice value={form.values.role} onChange={(role) => form.set('role', role)} />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? members.inviting : undefined}>
            {members.sendInvitation}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};
