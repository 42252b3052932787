import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useId } from 'react';
import { isAwaited, useIsOnline } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';

import { ErrorNotice } from './error-notice.tsx';
import { Icon, type IconName } from './icon.tsx';
import { LoadMore } from './load-more.tsx';

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

/** Shows that data are loading, in about the space that they will take, or that loading waits for the network. */
export const Loading = ({ lines = 3 }: { lines?: number }): ReactElement => {
  const { messages } = useCoreI18n();
  const isOnline = useIsOnline();
  if (!isOnline)
    return <EmptyState icon="refresh" title={messages.common.offlineTitle} text={messages.common.offlineText} />;
  return (
    <div className="loading" role="status">
      <span className="visually-hidden">{messages.common.loading}</span>
      {Array.from({ length: lines }, (_, index) => index).map((line) => (
        <span key={line} className="skeleton" aria-hidden="true" />
      ))}
    </div>
  );
};

/** Shows the data of a query, or that it is loading, or why it failed. */
export const Loaded = <T,>({
  query,
  lines,
  placeholder,
  after,
  children,
}: {
  query: UseQueryResult<T, Error>;
  lines?: number;
  /** Stands in place of lines. */
  placeholder?: ReactElement;
  /** Follows once the height above is known, so that it never moves. */
  after?: ReactNode;
  children: (data: T) => ReactNode;
}): ReactNode => (
  <>
    <LoadedPart query={query} lines={lines} placeholder={placeholder}>
      {children}
    </LoadedPart>
    {!isAwaited(query) && after}
  </>
);

const LoadedPart = <T,>({
  query,
  lines,
  placeholder,
  children,
}: {
  query: UseQueryResult<T, Error>;
  lines: number | undefined;
  placeholder: ReactElement | undefined;
  children: (data: T) => ReactNode;
}): ReactNode => {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (placeholder !== undefined) return placeholder;
  return <Loading {...(lines === undefined ? {} : { lines })} />;
};

/** Renders a list page by page, with a button for the next one. */
export const PagesCard = <T,>({
  title,
  lead,
  empty,
  pages,
  children,
}: {
  title: string;
  lead: string;
  /** Text for a list without records. */
  empty: string;
  pages: UseInfiniteQueryResult<InfiniteData<{ readonly data: T[] }>, Error>;
  children: (records: readonly T[]) => ReactNode;
}): ReactElement => {
  const records = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Card title={title} lead={lead}>
      {pages.isPending && <Loading lines={4} />}
      {pages.isError && <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && records.length === 0 && <EmptyState text={empty} />}
      {records.length > 0 && children(records)}
      <LoadMore pages={pages} />
    </Card>
  );
};
