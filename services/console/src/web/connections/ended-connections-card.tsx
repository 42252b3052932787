import type { EndedConnection } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { AppIcon, Button, Card, Time } from '../ui/index.ts';
import { HistoryDialog } from './history-dialog.tsx';

/** Apps that are no longer connected, with their history. Shows nothing if there are none, or while that is unknown. */
export const EndedConnectionsCard = (): ReactElement | null => {
  const { connections } = useI18n().messages;
  const { data } = useApiQuery('listEndedConnections', {});
  const [looking, setLooking] = useState<EndedConnection>();
  if (data === undefined || data.data.length === 0) return null;
  return (
    <Card title={connections.endedTitle} lead={connections.endedLead}>
      <ul className="rows">
        {data.data.map((connection) => (
          <EndedRow key={connection.client_id} connection={connection} onLook={() => setLooking(connection)} />
        ))}
      </ul>
      {looking !== undefined && <HistoryDialog connection={looking} onClose={() => setLooking(undefined)} />}
    </Card>
  );
};

const EndedRow = ({ connection, onLook }: { connection: EndedConnection; onLook: () => void }): ReactElement => {
  const { connections } = useI18n().messages;
  const { app, client_id, ended_at } = connection;
  return (
    <li className="row">
      <AppIcon clientId={client_id} />
      <div className="row-text">
        <p className="row-title">{app.name}</p>
        <p className="hint">
          {connections.endedAt} <Time at={ended_at} />
        </p>
      </div>
      <Button small onClick={onLook} aria-label={connections.historyOf(app.name)}>
        {connections.history}
      </Button>
    </li>
  );
};
