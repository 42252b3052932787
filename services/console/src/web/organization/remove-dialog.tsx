import type { ReactElement } from 'react';
import { useLocation } from 'wouter';
import { type ItemOf, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useAccount } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';

/** Removes a member, or oneself, after a confirmation that names what ends. */
export const RemoveDialog = ({
  member: { svc_user_id, name },
  onClose,
}: {
  member: ItemOf<'listMembers'>;
  onClose: () => void;
}): ReactElement => {
  const { members, common } = useI18n().messages;
  const account = useAccount();
  const toast = useToast();
  const [, navigate] = useLocation();
  const isOneself = svc_user_id === account.svc_user_id;
  const organization = account.organization?.name ?? '';
  const remove = useApiMutation('removeMember', {
    // A person who has left may read nothing of it any more.
    refreshes: isOneself ? [] : ['listMembers', 'listSeats'],
    onDone: () => {
      toast(isOneself ? members.left(organization) : members.removed(name));
      onClose();
      if (isOneself) navigate(linkTo(undefined));
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={isOneself ? members.leaveTitle(organization) : members.removeTitle(name)}
      text={isOneself ? members.leaveText : members.removeText}
      confirmLabel={isOneself ? members.leave : members.remove}
      busyLabel={common.working}
      isBusy={remove.isPending}
      isDangerous
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { svc_user_id } })}
    />
  );
};
