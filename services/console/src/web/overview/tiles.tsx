import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'wouter';
import { useMayOpen } from '../access/index.ts';
import { useApiQuery } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { describeError, Icon, type IconName, Money } from '../ui/index.ts';

/** Renders key figures that link to their pages. */
export const Tiles = (): ReactElement => {
  const { overview } = useCoreI18n().messages;
  const mayOpen = useMayOpen();
  const connections = useApiQuery('listConnections', {}, { enabled: mayOpen('/connections') });
  const keys = useApiQuery('listKeys', {}, { enabled: mayOpen('/keys') });
  const wallet = useApiQuery('getWallet', {});
  return (
    <ul className="tiles">
      {mayOpen('/connections') && (
        <Tile to="/connections" icon="connections" title={overview.connectionsCard} query={connections}>
          {({ data }) => overview.connectionsCount(data.length)}
        </Tile>
      )}
      {mayOpen('/keys') && (
        <Tile to="/keys" icon="keys" title={overview.keysCard} query={keys}>
          {({ data }) => overview.keysCount(data.length)}
        </Tile>
      )}
      <Tile to="/wallet" icon="wallet" title={overview.walletCard} hint={overview.walletHint} query={wallet}>
        {({ balance_micros, currency }) => <Money micros={balance_micros} currency={currency} />}
      </Tile>
    </ul>
  );
};

const Tile = <T,>({
  to,
  icon,
  title,
  hint,
  query,
  children,
}: {
  to: string;
  icon: IconName;
  title: string;
  hint?: string;
  query: UseQueryResult<T, Error>;
  children: (data: T) => ReactNode;
}): ReactElement => (
  <li>
    <Link to={to} className="tile">
      <span className="tile-title">
        <Icon name={icon} />
        {title}
      </span>
      <span className="tile-value">
        <TileValue query={query}>{children}</TileValue>
      </span>
      {hint !== undefined && <span className="hint">{hint}</span>}
    </Link>
  </li>
);

const TileValue = <T,>({
  query,
  children,
}: {
  query: UseQueryResult<T, Error>;
  children: (data: T) => ReactNode;
}): ReactNode => {
  const { messages, formats } = useCoreI18n();
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <span className="tile-error">{describeError(query.error, messages, formats).title}</span>;
  return (
    <>
      <span className="visually-hidden">{messages.common.loading}</span>
      <span className="skeleton" aria-hidden="true" />
    </>
  );
};
