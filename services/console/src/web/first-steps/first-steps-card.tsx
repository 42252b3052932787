import { lazy, type ReactElement, Suspense, useEffect, useState } from 'react';
import type { ItemOf } from '../api/index.ts';
import { docsPath, useCoreI18n } from '../i18n/index.ts';
import { Button, ButtonLink, Card, Icon, Loading, Segments, useFocusAfterwards } from '../ui/index.ts';
import { furthestPath, isFinished, type Path, type Step, type StepId, stepsOf } from './paths.ts';
import type { KnownFacts } from './use-facts.ts';

const RequestSamples = lazy(async () => ({ default: (await import('../keys/index.ts')).RequestSamples }));

/** Shows the ways to start with the product, step by step, with their progress. Hidden once one is complete. */
export const FirstStepsCard = ({
  known,
  onDismiss,
}: {
  known: KnownFacts;
  onDismiss: () => void;
}): ReactElement | null => {
  const { firstSteps } = useCoreI18n().messages;
  // Chosen once, so that a path completed while it is shown stays visible as complete.
  const [path, setPath] = useState<Path | 'none'>(() => pathToOpen(known));
  useFocusAfterwards();
  const isNeedless = path === 'none';
  useEffect(() => {
    if (isNeedless) onDismiss();
  }, [isNeedless, onDismiss]);
  if (path === 'none') return null;
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
      <Segments
        label={firstSteps.choose}
        value={path}
        onChange={setPath}
        options={known.paths.map((value) => ({ value, label: firstSteps.paths[value] }))}
      />
      <Steps path={path} known={known} />
    </Card>
  );
};

const pathToOpen = ({ paths, facts }: KnownFacts): Path | 'none' =>
  paths.some((path) => isFinished(path, facts)) ? 'none' : (furthestPath(paths, facts) ?? 'none');

const Steps = ({ path, known }: { path: Path; known: KnownFacts }): ReactElement => {
  const { firstSteps } = useCoreI18n().messages;
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
  const { firstSteps } = useCoreI18n().messages;
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
  const { messages, locale } = useCoreI18n();
  const { acts, waiting } = messages.firstSteps;
  switch (id) {
    case 'plan':
      return <Act to="/plans">{acts.plan}</Act>;
    case 'connect':
      return (
        <Act to={`/sample-app?locale=${locale}`} leavesConsole>
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
    case 'tryIt':
      return (
        <Act to={docsPath(locale, 'quick-start')} leavesConsole>
          {acts.tryIt}
        </Act>
      );
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
  const { messages, formats } = useCoreI18n();
  const { firstSteps, common } = messages;
  const { model, service, status, duration_ms } = request;
  return (
    <p className="hint" role="status">
      {firstSteps.arrived(model ?? common.services[service], String(status), formats.duration(duration_ms))}
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
