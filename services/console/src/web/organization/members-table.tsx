import type { ReactElement } from 'react';
import { useMay } from '../access/index.ts';
import type { ItemOf } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ActionMenu } from '../overlays/index.ts';
import { foreignOrganizationOf, useAccount } from '../session/index.ts';
import { usePlans } from '../subscription.tsx';
import { Badge, Table, Time } from '../ui/index.ts';

type Member = ItemOf<'listMembers'>;

/** An action that opens a dialog. */
export type MemberAct = 'role' | 'seat' | 'limit' | 'remove';

/** Lists members with role, second factor and seat. */
export const MembersTable = ({
  members: list,
  onAct,
}: {
  members: readonly Member[];
  onAct: (act: MemberAct, member: Member) => void;
}): ReactElement => {
  const { members, common, shell } = useI18n().messages;
  const { columns } = members;
  const plans = usePlans();
  const actsOf = useActsOf();
  const planName = (id: string): string => plans.data?.data.find((plan) => plan.id === id)?.name ?? id;
  return (
    <Table
      label={members.title}
      rows={list}
      keyOf={({ svc_user_id }) => svc_user_id}
      columns={[
        { title: columns.name, isHeader: true, isName: true, render: (member) => <Name member={member} /> },
        { title: columns.role, render: ({ role }) => shell.roles[role] },
        {
          title: columns.factor,
          render: ({ has_second_factor: has }) => (
            <Badge tone={has ? 'good' : 'neutral'}>{has ? common.yes : common.no}</Badge>
          ),
        },
        { title: columns.seat, render: ({ seat }) => (seat === null ? common.none : planName(seat)) },
        { title: columns.joined, render: ({ joined_at }) => <Time at={joined_at} /> },
        {
          title: columns.actions,
          isAction: true,
          render: (member) => {
            const acts = actsOf(member);
            return (
              acts.length > 0 && (
                <ActionMenu
                  label={members.manage}
                  name={members.manageMember(member.name)}
                  actions={acts.map(([act, label]) => ({ label, onSelect: () => onAct(act, member) }))}
                />
              )
            );
          },
        },
      ]}
    />
  );
};

/** Returns a function that lists what the person may do with a member. Only owners change or remove an owner. */
const useActsOf = (): ((member: Member) => (readonly [MemberAct, string])[]) => {
  const { members } = useI18n().messages;
  const account = useAccount();
  const may = useMay();
  const isForeign = foreignOrganizationOf(account) !== undefined;
  return ({ svc_user_id, role }) => {
    const isOneself = svc_user_id === account.svc_user_id;
    const mayChange = may('updateMember') && (role !== 'owner' || account.organization?.role === 'owner');
    return [
      ...(mayChange ? [['role', members.changeRole] as const] : []),
      ...(may('assignSeat') ? [['seat', members.changeSeat] as const] : []),
      ...(may('changeMemberLimit') ? [['limit', members.changeLimit] as const] : []),
      ...(isOneself && isForeign && may('removeMember') ? [['remove', members.leave] as const] : []),
      ...(!isOneself && mayChange ? [['remove', members.remove] as const] : []),
    ];
  };
};

const Name = ({ member: { svc_user_id, name, email } }: { member: Member }): ReactElement => {
  const { members } = useI18n().messages;
  const account = useAccount();
  return (
    <span className="event-name">
      <strong>{name}</strong>
      {svc_user_id === account.svc_user_id && <Badge tone="neutral">{members.you}</Badge>}
      {name !== email && <span className="hint">{email}</span>}
    </span>
  );
};
