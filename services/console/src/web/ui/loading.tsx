import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { useIsOnline } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { EmptyState } from './card.tsx';
import { ErrorNotice } from './error-notice.tsx';

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
  children,
}: {
  query: UseQueryResult<T, Error>;
  lines?: number;
  /** Stands in place of lines. */
  placeholder?: ReactElement;
  children: (data: T) => ReactNode;
}): ReactNode => {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (placeholder !== undefined) return placeholder;
  return <Loading {...(lines === undefined ? {} : { lines })} />;
};
