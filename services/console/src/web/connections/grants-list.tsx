import type { Connection, Grant } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { isAwaited, useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Loading, Time, useFirstItems } from '../ui/index.ts';

/** Grants shown at first. An app that connects anew at each start may have hundreds. */
const SHOWN_AT_FIRST = 3;

/** Lists the devices and browsers of a connection, and ends them one by one. Shows nothing if they cannot be read. */
export const GrantsList = ({ connection }: { connection: Connection }): ReactElement | null => {
  const { connections } = useI18n().messages;
  const grants = useApiQuery('listGrants', { params: { client_id: connection.client_id } });
  const { data } = grants;
  const [ending, setEnding] = useState<Grant>();
  const { shown, hidden, list, showMore } = useFirstItems(data?.data ?? [], SHOWN_AT_FIRST);
  if (isAwaited(grants)) return <Loading lines={3} />;
  if (data === undefined || data.data.length === 0) return null;
  return (
    <section aria-label={`${connections.grants}: ${connection.app.name}`}>
      <h3>{connections.grants}</h3>
      <ul className="rows" ref={list}>
        {shown.map((grant) => (
          <GrantRow key={grant.id} grant={grant} appName={connection.app.name} onEnd={() => setEnding(grant)} />
        ))}
      </ul>
      {hidden > 0 && (
        <Button small variant="quiet" onClick={() => showMore(hidden)}>
          {connections.moreGrants(hidden)}
        </Button>
      )}
      {ending !== undefined && (
        <EndGrant clientId={connection.client_id} grant={ending} onClose={() => setEnding(undefined)} />
      )}
    </section>
  );
};

const GrantRow = ({ grant, appName, onEnd }: { grant: Grant; appName: string; onEnd: () => void }): ReactElement => {
  const { connections } = useI18n().messages;
  const { device_name, last_used_at, created_at } = grant;
  const name = device_name ?? connections.browserGrant;
  return (
    <li className="row">
      <div className="row-text">
        <p className="row-title">
          <bdi>{name}</bdi>
        </p>
        <p className="hint">
          {last_used_at === null ? connections.grantUnused : connections.grantUsed}{' '}
          <Time at={last_used_at ?? created_at} />
        </p>
      </div>
      <Button small onClick={onEnd} aria-label={connections.endGrantOf(name, appName)}>
        {connections.endGrant}
      </Button>
    </li>
  );
};

const EndGrant = ({
  clientId,
  grant,
  onClose,
}: {
  clientId: string;
  grant: Grant;
  onClose: () => void;
}): ReactElement => {
  const { connections, common } = useI18n().messages;
  const toast = useToast();
  const end = useApiMutation('deleteGrant', {
    refreshes: ['listGrants', 'listConnections'],
    onDone: () => {
      toast(connections.grantEnded);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={connections.endGrantTitle(grant.device_name ?? connections.browserGrant)}
      text={connections.endGrantText}
      confirmLabel={connections.endGrant}
      busyLabel={common.working}
      isBusy={end.isPending}
      isDangerous
      error={end.error}
      onConfirm={() => end.mutate({ params: { client_id: clientId, grant_id: grant.id } })}
    />
  );
};
