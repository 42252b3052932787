import type { ReactElement } from 'react';
import { type ItemOf, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useAccount, useSession } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Form, useForm } from '../ui/index.ts';
import { RoleChoice } from './role-choice.tsx';

/** Changes the role of a member. */
export const RoleDialog = ({
  member: { svc_user_id, name, role },
  onClose,
}: {
  member: ItemOf<'listMembers'>;
  onClose: () => void;
}): ReactElement => {
  const { members, common, shell } = useI18n().messages;
  const account = useAccount();
  const session = useSession();
  const toast = useToast();
  const update = useApiMutation('updateMember', { refreshes: ['listMembers'] });
  const form = useForm({
    initial: { role },
    submit: async (values) => {
      const changed = await update.mutateAsync({ params: { svc_user_id }, body: values });
      toast(members.roleChanged(name, shell.roles[changed.role]));
      onClose();
      // One's own role decides what the pages show. Without an answer, the next refused call finds out.
      if (svc_user_id === account.svc_user_id) await session.renew().catch(() => undefined);
    },
  });
  const title = members.changeRoleTitle(name);
  return (
    <Dialog onClose={onClose} title={title}>
      <Form form={form} label={title}>
        <RoleChoice value={form.values.role} onChange={(next) => form.set('role', next)} />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? common.working : undefined}>
            {common.save}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};
