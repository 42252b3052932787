import type { ListedSession } from '@svc/contracts';
import { describeDevice } from '@svc/contracts/describe-device';
import { type ReactElement, useState } from 'react';
import { useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Badge, Button, Card, ErrorNotice, Loaded, Time } from '../ui/index.ts';

/** The others are shown on demand. */
const SHOWN_AT_FIRST = 5;

/** Lists the places where the account is signed in, and signs out one of them or all others. */
export const SessionsCard = (): ReactElement => {
  const { sessions: texts } = useI18n().messages;
  const list = useApiQuery('listSessions', {});
  const [isEndingOthers, setEndingOthers] = useState(false);
  const endOthers = (
    <Button small onClick={() => setEndingOthers(true)}>
      {texts.endOthers}
    </Button>
  );
  const hasOthers = list.data?.data.some(({ is_current }) => !is_current);
  return (
    <Card title={texts.title} lead={texts.lead} actions={hasOthers === true ? endOthers : undefined}>
      <Loaded query={list} lines={2}>
        {({ data }) => <SessionRows sessions={data} />}
      </Loaded>
      {isEndingOthers && <EndOthersDialog onClose={() => setEndingOthers(false)} />}
    </Card>
  );
};

const SessionRows = ({ sessions }: { sessions: readonly ListedSession[] }): ReactElement => {
  const { sessions: texts } = useI18n().messages;
  const [isWhole, setWhole] = useState(false);
  const toast = useToast();
  const end = useApiMutation('deleteSessionById', {
    refreshes: ['listSessions'],
    onDone: () => toast(texts.ended),
  });
  // This session first, because the person compares the others with it.
  const sorted = sessions.toSorted((one, other) => Number(other.is_current) - Number(one.is_current));
  const shown = isWhole ? sorted : sorted.slice(0, SHOWN_AT_FIRST);
  return (
    <>
      {end.isError && <ErrorNotice error={end.error} />}
      <ul className="rows">
        {shown.map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            isEnding={end.isPending && end.variables.params.session_id === session.id}
            onEnd={() => end.mutate({ params: { session_id: session.id } })}
          />
        ))}
      </ul>
      {shown.length < sorted.length && <Button onClick={() => setWhole(true)}>{texts.showAll(sorted.length)}</Button>}
    </>
  );
};

const SessionRow = ({
  session,
  isEnding,
  onEnd,
}: {
  session: ListedSession;
  isEnding: boolean;
  onEnd: () => void;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { sessions: texts } = messages;
  const device = describeDevice(session.user_agent) ?? texts.unknownDevice;
  return (
    <li className="row">
      <div className="row-text">
        <p className="row-title">
          {device} {session.is_current && <Badge tone="good">{texts.thisDevice}</Badge>}
        </p>
        <p className="hint">
          {texts.signedIn} <Time at={session.created_at} /> · {texts.lastUsed} <Time at={session.last_used_at} />
          {session.source !== null && ` · ${texts.from(session.source)}`}
        </p>
      </div>
      {!session.is_current && (
        <span className="row-end">
          <Button
            small
            aria-label={texts.endOf(device, formats.dateTime(session.created_at))}
            busyLabel={isEnding ? texts.ending : undefined}
            onClick={onEnd}
          >
            {texts.end}
          </Button>
        </span>
      )}
    </li>
  );
};

const EndOthersDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
  const { sessions: texts } = useI18n().messages;
  const toast = useToast();
  const end = useApiMutation('deleteOtherSessions', {
    refreshes: ['listSessions'],
    onDone: () => {
      toast(texts.othersEnded);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={texts.endOthersTitle}
      text={texts.endOthersText}
      confirmLabel={texts.endOthers}
      busyLabel={texts.ending}
      isBusy={end.isPending}
      error={end.error}
      onConfirm={() => end.mutate({})}
    />
  );
};
