import type { ReactElement } from 'react';
import { type PagePath, useMayOpen } from '../access/index.ts';
import { type CoreMessages, docsPath, useCoreI18n } from '../i18n/index.ts';
import { useIsBusiness } from '../session/index.ts';
import { Icon, type IconName, NavLink } from '../ui/index.ts';

interface Group {
  readonly title?: string;
  readonly items: readonly { to: PagePath; label: string; icon: IconName }[];
}

const groupsFor = ({ shell }: CoreMessages, isBusiness: boolean): readonly Group[] => [
  {
    items: [
      { to: '/', label: shell.overview, icon: 'overview' },
      { to: '/plans', label: shell.plan, icon: 'plan' },
      { to: '/connections', label: shell.connections, icon: 'connections' },
    ],
  },
  {
    title: shell.gateway,
    items: [
      { to: '/keys', label: shell.keys, icon: 'keys' },
      { to: '/wallet', label: shell.wallet, icon: 'wallet' },
      { to: '/usage', label: shell.usage, icon: 'usage' },
    ],
  },
  ...(isBusiness
    ? ([
        { title: shell.developers, items: [{ to: '/apps', label: shell.apps, icon: 'apps' }] },
        {
          title: shell.organization,
          items: [
            { to: '/organization/members', label: shell.members, icon: 'members' },
            { to: '/organization/seats', label: shell.seats, icon: 'plan' },
            { to: '/organization/usage', label: shell.memberUsage, icon: 'usage' },
            { to: '/organization/audit', label: shell.audit, icon: 'documentation' },
            { to: '/organization/settings', label: shell.rules, icon: 'shield' },
          ],
        },
      ] as const)
    : []),
];

/** Renders the links to all pages of the account. */
export const Navigation = ({ onNavigate }: { onNavigate?: () => void }): ReactElement => {
  const { messages, locale } = useCoreI18n();
  const isBusiness = useIsBusiness();
  const mayOpen = useMayOpen();
  const groups = groupsFor(messages, isBusiness)
    .map((group) => ({ ...group, items: group.items.filter(({ to }) => mayOpen(to)) }))
    .filter(({ items }) => items.length > 0);
  return (
    <nav className="navigation" aria-label={messages.shell.navigation}>
      {groups.map((group) => (
        <div key={group.title ?? ''} className="navigation-group">
          {group.title !== undefined && <p className="navigation-title">{group.title}</p>}
          <ul>
            {group.items.map(({ to, label, icon }) => (
              <li key={to}>
                <NavLink to={to} end={to === '/'} className="navigation-link" onClick={() => onNavigate?.()}>
                  <Icon name={icon} />
                  {label}
                </NavLink>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <div className="navigation-group">
        {/* Pages of their own, beside the console's. */}
        <a href={docsPath(locale)} className="navigation-link">
          <Icon name="documentation" />
          {messages.shell.documentation}
        </a>
      </div>
    </nav>
  );
};
