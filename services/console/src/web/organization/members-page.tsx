import { type ReactElement, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted } from '../access/index.ts';
import { type ItemOf, useApiQuery } from '../api/index.ts';
import { useHasDraft } from '../drafts/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, Loaded, Page } from '../ui/index.ts';
import { InvitationsCard } from './invitations-card.tsx';
import { INVITATION_DRAFT, InviteDialog } from './invite-dialog.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import { type MemberAct, MembersTable } from './members-table.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { RoleDialog } from './role-dialog.tsx';
import { SeatDialog } from './seat-dialog.tsx';

type Member = ItemOf<'listMembers'>;

const DIALOGS = { role: RoleDialog, seat: SeatDialog, limit: LimitDialog, remove: RemoveDialog } as const;

/** Lists the members of the organization and the invitations that wait. */
export const MembersPage = (): ReactElement => {
  const { members } = useI18n().messages;
  const list = useApiQuery('listMembers', {});
  const hasDraft = useHasDraft(INVITATION_DRAFT);
  const [search, setSearch] = useSearchParams();
  const isAsked = search.has('invite');
  const [isInviting, setInviting] = useState(hasDraft);
  const [open, setOpen] = useState<{ readonly act: MemberAct; readonly member: Member }>();
  const endInviting = (): void => {
    setInviting(false);
    if (isAsked) setSearch({}, { replace: true });
  };
  const OpenDialog = open && DIALOGS[open.act];
  return (
    <Page
      title={members.title}
      lead={members.lead}
      actions={
        <Permitted to="createInvitation">
          <Button variant="primary" icon="plus" onClick={() => setInviting(true)}>
            {members.invite}
          </Button>
        </Permitted>
      }
    >
      <Loaded query={list} lines={6}>
        {({ data }) => (
          <div className="card">
            <MembersTable members={data} onAct={(act, member) => setOpen({ act, member })} />
          </div>
        )}
      </Loaded>
      <Permitted to="listInvitations">
        <InvitationsCard />
      </Permitted>
      {(isInviting || isAsked) && (
        <Permitted to="createInvitation">
          <InviteDialog onClose={endInviting} />
        </Permitted>
      )}
      {open !== undefined && OpenDialog !== undefined && (
        <OpenDialog member={open.member} onClose={() => setOpen(undefined)} />
      )}
    </Page>
  );
};
