import { type ReactElement, useState } from 'react';
import { Permitted } from '../access/index.ts';
import { type ItemOf, useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Card, Loaded, Time } from '../ui/index.ts';

type Invitation = ItemOf<'listInvitations'>;

/** Lists the invitations that wait for their people, and withdraws them. */
export const InvitationsCard = (): ReactElement => {
  const { members, shell } = useI18n().messages;
  const list = useApiQuery('listInvitations', {});
  const [withdrawn, setWithdrawn] = useState<Invitation>();
  return (
    <Card title={members.invitations} lead={members.invitationsLead}>
      <Loaded query={list} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="hint">{members.noInvitations}</p>
          ) : (
            <ul className="rows">
              {data.map((invitation) => (
                <li key={invitation.id} className="row">
                  <div className="row-text">
                    <p className="row-title">{invitation.email}</p>
                    <p className="hint">
                      {shell.roles[invitation.role]} · {members.expires} <Time at={invitation.expires_at} />
                    </p>
                  </div>
                  <Permitted to="withdrawInvitation">
                    <span className="row-end">
                      <Button
                        small
                        aria-label={members.withdrawInvitation(invitation.email)}
                        onClick={() => setWithdrawn(invitation)}
                      >
                        {members.withdraw}
                      </Button>
                    </span>
                  </Permitted>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {withdrawn !== undefined && <WithdrawDialog invitation={withdrawn} onClose={() => setWithdrawn(undefined)} />}
    </Card>
  );
};

const WithdrawDialog = ({
  invitation: { id, email },
  onClose,
}: {
  invitation: Invitation;
  onClose: () => void;
}): ReactElement => {
  const { members, common } = useI18n().messages;
  const toast = useToast();
  const withdraw = useApiMutation('withdrawInvitation', {
    refreshes: ['listInvitations'],
    onDone: () => {
      toast(members.withdrawn(email));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={members.withdrawTitle(email)}
      text={members.withdrawText}
      confirmLabel={members.withdraw}
      busyLabel={common.working}
      isBusy={withdraw.isPending}
      isDangerous
      error={withdraw.error}
      onConfirm={() => withdraw.mutate({ params: { invitation_id: id } })}
    />
  );
};
