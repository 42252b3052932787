import { type ReactElement, type ReactNode, useId } from 'react';
import { Icon, type IconName } from './icon.tsx';

/** Renders a section of a page, named by its heading. */
export const Card = ({
  title,
  lead,
  icon,
  actions,
  tone,
  children,
}: {
  title: string;
  lead?: string | undefined;
  icon?: ReactNode;
  actions?: ReactNode;
  tone?: 'danger';
  children?: ReactNode;
}): ReactElement => {
  const id = useId();
  return (
    <section className={tone === undefined ? 'card' : `card card-${tone}`} aria-labelledby={id}>
      <header className="card-header">
        {icon}
        <div className="card-title">
          <h2 id={id}>{title}</h2>
          {lead !== undefined && <p className="hint">{lead}</p>}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
};

/** Shows that a list is empty, and what to do next. */
export const EmptyState = ({
  icon,
  title,
  text,
  action,
}: {
  icon?: IconName;
  title?: string;
  text: string;
  action?: ReactNode;
}): ReactElement => (
  <div className="empty">
    {icon !== undefined && (
      <span className="empty-mark">
        <Icon name={icon} />
      </span>
    )}
    {title !== undefined && <p className="empty-title">{title}</p>}
    <p>{text}</p>
    {action}
  </div>
);

/** Renders names and values, one pair per line. */
export const Facts = ({ items }: { items: readonly (readonly [string, ReactNode])[] }): ReactElement => (
  <dl className="facts">
    {items.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
