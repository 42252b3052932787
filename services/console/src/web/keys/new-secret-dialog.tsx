import type { ReactElement } from 'react';
import { useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { OnceOnlyDialog } from '../overlays/index.ts';
import { CopyButton, Secret } from '../ui/index.ts';
import { sampleRequest } from './sample-request.ts';

/** Interval of checks for the first request with a new key. */
const WATCH_MS = 3_000;

/** Shows the secret of a created or rotated key once, in a request that is ready to paste. */
export const NewSecretDialog = ({
  keyId,
  value,
  note,
  onClose,
}: {
  /** Id of a new key, whose first request is awaited. */
  keyId?: string;
  value: string;
  note?: string;
  onClose: () => void;
}): ReactElement => {
  const { keys, common } = useI18n().messages;
  const command = sampleRequest('curl', `${window.location.origin}/v1`).replace('$SVC_API_KEY', value);
  return (
    <OnceOnlyDialog title={keys.secretTitle} doneLabel={keys.secretDone} onClose={onClose}>
      <Secret label={keys.secretLabel} text={keys.secretText} value={value} />
      {note !== undefined && <p className="hint">{note}</p>}
      <div className="sample">
        <div className="sample-head">
          <h3>{keys.tryIt}</h3>
          <CopyButton text={command} label={`${common.copy}: curl`} />
        </div>
        <pre className="code code-wrapped">
          <code>{command}</code>
        </pre>
        {keyId !== undefined && <FirstRequest keyId={keyId} />}
      </div>
    </OnceOnlyDialog>
  );
};

const FirstRequest = ({ keyId }: { keyId: string }): ReactElement => {
  const { messages, formats } = useI18n();
  const { keys } = messages;
  const requests = useApiQuery(
    'listGatewayUsage',
    { query: { key_id: keyId, limit: 1 } },
    { staleTime: 0, refetchInterval: (answer) => (answer?.data.length === 0 ? WATCH_MS : false) },
  );
  const first = requests.data?.data[0];
  if (first === undefined) {
    return (
      <p className="first-step-waiting" role="status">
        <span className="spinner" aria-hidden="true" />
        {keys.waitingForFirst}
      </p>
    );
  }
  const status = String(first.status);
  return (
    <p className="hint" role="status">
      {first.status < 400 ? keys.firstArrived(status, formats.duration(first.duration_ms)) : keys.firstFailed(status)}
    </p>
  );
};
