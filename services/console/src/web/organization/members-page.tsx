import type { Role } from '@svc/contracts';
import { roles } from '@svc/contracts/roles';
import { type ReactElement, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { Permitted } from '../access/index.ts';
import { type ItemOf, useApiMutation, useApiQuery } from '../api/index.ts';
import { useHasDraft } from '../drafts.ts';
import { useI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import { ConfirmDialog, Dialog, DialogActions } from '../overlays/index.ts';
import { useAccount, useSession } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, ChoiceField, checkEmail, Form, fault, Loaded, Page, TextField, useForm } from '../ui/index.ts';
import { InvitationsCard } from './invitations-card.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import { type MemberAct, MembersTable } from './members-table.tsx';
import { SeatDialog } from './seat-dialog.tsx';

/** Renders the roles that the person may give, each explained in one line. Only owners make owners. */
const RoleChoice = ({ value, onChange }: { value: Role; onChange: (role: Role) => void }): ReactElement => {
  const { members, shell } = useI18n().messages;
  const isOwner = useAccount().organization?.role === 'owner';
  return (
    <ChoiceField
      label={members.columns.role}
      value={value}
      onChange={onChange}
      options={roles
        .filter((role) => role !== 'owner' || isOwner)
        .map((role) => ({ value: role, label: shell.roles[role], hint: members.roleHints[role] }))}
    />
  );
};

/** Draft of an invitation. */
const INVITATION_DRAFT = 'invitation';

interface Values {
  readonly email: string;
  readonly role: Role;
}

/** Invites a person by mail, with a role. */
const InviteDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
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

/** Changes the role of a member. */
const RoleDialog = ({
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

/** Removes a member, or oneself, after a confirmation that names what ends. */
const RemoveDialog = ({
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
      <Loaded
        query={list}
        lines={6}
        after={
          <Permitted to="listInvitations">
            <InvitationsCard />
          </Permitted>
        }
      >
        {({ data }) => (
          <div className="card">
            <MembersTable members={data} onAct={(act, member) => setOpen({ act, member })} />
          </div>
        )}
      </Loaded>
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
