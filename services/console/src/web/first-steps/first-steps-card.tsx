import { lazy, type ReactElement, Suspense, useEffect, useState } from 'react';
import type { ItemOf } from '../api/index.ts';
import { docsPath, useI18n } from '../i18n/index.ts';
import { useAccount } from '../session/index.ts';
import { Button, ButtonLink, Card, Icon, Loading, Segments } from '../ui/index.ts';
import { furthestPath, isFinished, type Path, type Step, type StepId, stepsOf } from './paths.ts';
import { type KnownFacts, useFacts } from './use-facts.ts';

const RequestSamples = lazy(async () => ({ default: (await import('../keys/index.ts')).RequestSamples }));

/** The ways into the product, step by step, with what is done already. Not shown to those who have walked one to its end. */
export const FirstStepsCard = ({ onDismiss }: { onDismiss: () => void }): ReactElement | null => {
  const { firstSteps } = useI18n().messages;
  const { account_type } = useAccount();
  const known = useFacts(account_type === 'business');
  const [path, setPath] = useState<Path | 'none'>();
  // Chosen once, so that a path that is finished while it is watched says so.
  if (known !== undefined && path === undefined) setPath(pathToOpen(known));
  const isNeedless = path === 'none';
  useEffect(() => {
    if (isNeedless) onDismiss();
  }, [isNeedless, onDismiss]);
  if (isNeedless) return null;
  return (
    <Card
      title={firstSteps.title}
      lead={firstSteps.lead}
      actions={
        <Button small variant="quiet" icon="close" onClick={onDismiss}>
          {firstSteps.dismiss}
        </Button>
      }
    >
      {known === undefined || path === undefined ? (
        <Loading lines={5} />
      ) : (
        <>
          <Segments
            label={firstSteps.choose}
            value={path}
            onChange={setPath}
            options={known.paths.map((value) => ({ value, label: firstSteps.paths[value] }))}
          />
          <Steps path={path} known={known} />
        </>
      )}
    </Card>
  );
};

const pathToOpen = ({ paths, facts }: KnownFacts): Path | 'none' =>
  paths.some((path) => isFinished(path, facts)) ? 'none' : (furthestPath(paths, facts) ?? 'none');

const Steps = ({ path, known }: { path: Path; known: KnownFacts }): ReactElement => {
  const { firstSteps } = useI18n().messages;
  const steps = stepsOf(path, known.facts);
  const done = steps.filter(({ state }) => state === 'done').length;
  return (
    <>
      <p className="hint" role="status">
        {done === steps.length ? firstSteps.finished : firstSteps.progress(done, steps.length)}
      </p>
      <ol className="first-steps">
        {steps.map((step) => (
          <StepRow key={step.id} step={step} known={known} />
        ))}
      </ol>
    </>
  );
};

const StepRow = ({ step, known }: { step: Step; known: KnownFacts }): ReactElement => {
  const { firstSteps } = useI18n().messages;
  const { clientId, newestRequest } = known;
  const { title, text } = firstSteps.steps[step.id];
  return (
    <li className={`first-step first-step-${step.state}`} aria-current={step.state === 'next' ? 'step' : undefined}>
      <span className="first-step-mark" aria-hidden="true">
        {step.state === 'done' && <Icon name="check" />}
      </span>
      <div>
        <p className="first-step-title">
          {title}
          {step.state === 'done' && <span className="visually-hidden"> ({firstSteps.done})</span>}
        </p>
        {step.id === 'request' && newestRequest !== undefined && <Arrived request={newestRequest} />}
        {step.state === 'next' && (
          <>
            <p className="hint">{text}</p>
            <StepAct id={step.id} clientId={clientId} />
          </>
        )}
      </div>
    </li>
  );
};

const StepAct = ({ id, clientId }: { id: StepId; clientId: string | undefined }): ReactElement | null => {
  const { messages, locale } = useI18n();
  const { acts, waiting } = messages.firstSteps;
  switch (id) {
    case 'plan':
      return <Act to="/plans">{acts.plan}</Act>;
    case 'connect':
      return (
        <Act to={docsPath(locale, 'quick-start')} leavesConsole>
          {acts.connect}
        </Act>
      );
    case 'answer':
      return <Waiting>{waiting.answer}</Waiting>;
    case 'app':
      return <Act to="/apps/new">{acts.app}</Act>;
    case 'webhook':
      return <Act to={`/apps/${clientId}/webhook`}>{acts.webhook}</Act>;
    case 'event':
      return <Act to={`/apps/${clientId}/webhook`}>{acts.event}</Act>;
    case 'goLive':
      return (
        <Act to={docsPath(locale, 'go-live')} leavesConsole>
          {acts.goLive}
        </Act>
      );
    case 'topUp':
      return <Act to="/wallet">{acts.topUp}</Act>;
    case 'key':
      return <Act to="/keys">{acts.key}</Act>;
    case 'request':
      return (
        <>
          <Suspense fallback={<Loading lines={5} />}>
            <RequestSamples />
          </Suspense>
          <Waiting>{waiting.request}</Waiting>
        </>
      );
  }
};

const Arrived = ({ request }: { request: ItemOf<'listGatewayUsage'> }): ReactElement => {
  const { messages, formats } = useI18n();
  const { firstSteps, usage } = messages;
  const { model, service, status, duration_ms } = request;
  return (
    <p className="hint" role="status">
      {firstSteps.arrived(model ?? usage.services[service], String(status), formats.duration(duration_ms))}
    </p>
  );
};

const Act = ({
  to,
  leavesConsole = false,
  children,
}: {
  to: string;
  leavesConsole?: boolean;
  children: string;
}): ReactElement => (
  <ButtonLink to={to} variant="primary" small leavesConsole={leavesConsole}>
    {children}
  </ButtonLink>
);

const Waiting = ({ children }: { children: string }): ReactElement => (
  <p className="first-step-waiting" role="status">
    <span className="spinner" aria-hidden="true" />
    {children}
  </p>
);
