import type { PublisherDomain } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { Permitted } from '../access/index.ts';
import { ApiError, useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import {
  Badge,
  Button,
  Card,
  CopyButton,
  ErrorNotice,
  Form,
  fault,
  Icon,
  Loaded,
  Notice,
  TextField,
  Time,
  useForm,
} from '../ui/index.ts';

/** Shows a domain with its state and, until it is verified, the proof to publish. */
const DomainItem = ({ domain, onRemove }: { domain: PublisherDomain; onRemove: () => void }): ReactElement => {
  const { domains } = useI18n().messages.apps;
  const toast = useToast();
  const check = useApiMutation('checkPublisherDomain', {
    refreshes: ['listPublisherDomains'],
    onDone: () => toast(domains.checked(domain.domain)),
  });
  const isVerified = domain.status === 'verified';
  const isFailing = domain.failing_since !== null;
  return (
    <li className="domain">
      <div className="row">
        <div className="row-text">
          <h3 className="row-title">
            {isVerified && <Icon name="shield" />} {domain.domain}
          </h3>
          {domain.verified_at !== null && isVerified && (
            <p className="hint">
              {domains.since} <Time at={domain.verified_at} />
            </p>
          )}
        </div>
        <Badge tone={TONES[domain.status]}>{domains.statuses[domain.status]}</Badge>
        <Permitted to="checkPublisherDomain">
          <Button
            small
            busyLabel={check.isPending ? domains.checking : undefined}
            onClick={() => check.mutate({ params: { domain: domain.domain } })}
            aria-label={domains.checkDomain(domain.domain)}
          >
            {domains.check}
          </Button>
        </Permitted>
        <Permitted to="deletePublisherDomain">
          <Button small variant="quiet" onClick={onRemove} aria-label={domains.removeDomain(domain.domain)}>
            {domains.remove}
          </Button>
        </Permitted>
      </div>
      {check.isError && <CheckError error={check.error} />}
      {isVerified && isFailing && <Notice tone="warn">{domains.failing}</Notice>}
      {(!isVerified || isFailing) && <Proof domain={domain} />}
    </li>
  );
};

const TONES = { pending: 'neutral', verified: 'good', lapsed: 'warn' } as const;

/** Shows the content found in each of the two places. */
const CheckError = ({ error }: { error: Error }): ReactElement => {
  const { domains } = useI18n().messages.apps;
  if (!(error instanceof ApiError)) return <ErrorNotice error={error} />;
  const outcomes: Readonly<Record<string, string>> = domains.outcomes;
  const refusals: Readonly<Record<string, string>> = domains.refusals;
  const refusal = refusals[error.code];
  if (refusal !== undefined) return <Notice tone="warn">{refusal}</Notice>;
  if (error.code !== 'domain_not_proven') return <ErrorNotice error={error} />;
  return (
    <Notice tone="warn" title={domains.notProven}>
      <p>{`${domains.dns}: ${outcomes[String(error.details['dns'])] ?? domains.outcomes.unreachable}`}</p>
      <p>{`${domains.file}: ${outcomes[String(error.details['file'])] ?? domains.outcomes.unreachable}`}</p>
      <p>{domains.patience}</p>
    </Notice>
  );
};

const Proof = ({ domain }: { domain: PublisherDomain }): ReactElement => {
  const { domains } = useI18n().messages.apps;
  return (
    <div className="proof">
      <p>{domains.howTo}</p>
      <h4>{domains.dns}</h4>
      <CopyLine label={domains.txtName} text={domain.txt_name} />
      <CopyLine label={domains.txtValue} text={domain.txt_value} />
      <h4>{domains.file}</h4>
      <CopyLine label={domains.fileUrl} text={domain.file_url} />
      <CopyLine label={domains.fileContent} text={domain.file_content} />
    </div>
  );
};

const CopyLine = ({ label, text }: { label: string; text: string }): ReactElement => {
  const { common } = useI18n().messages;
  return (
    <div className="copy-row">
      <span className="hint">{label}</span>
      <code>{text}</code>
      <CopyButton text={text} label={`${common.copy}: ${label}`} />
    </div>
  );
};

const DOMAINS_MAX = 5;
/** Labels separated by dots, the last with a letter. The service checks the rest. */
const HOST_NAME = /^[^\s/:@?#%.]+(\.[^\s/:@?#%.]+)*\.[^\s/:@?#%.]*\p{L}[^\s/:@?#%.]*\.?$/u;

/** Manages the domains that a business proves, of which the consent page shows one. */
export const DomainsCard = (): ReactElement => {
  const { domains } = useI18n().messages.apps;
  const list = useApiQuery('listPublisherDomains', {});
  const [leaving, setLeaving] = useState<PublisherDomain>();
  return (
    <Card title={domains.title} lead={domains.lead}>
      <Loaded query={list}>
        {({ data }) => (
          <>
            {data.length > 0 && (
              <ul className="rows">
                {data.map((domain) => (
                  <DomainItem key={domain.domain} domain={domain} onRemove={() => setLeaving(domain)} />
                ))}
              </ul>
            )}
            {data.length < DOMAINS_MAX && (
              <Permitted to="addPublisherDomain">
                <AddForm />
              </Permitted>
            )}
          </>
        )}
      </Loaded>
      {leaving !== undefined && <RemoveDialog domain={leaving} onClose={() => setLeaving(undefined)} />}
    </Card>
  );
};

const AddForm = (): ReactElement => {
  const { domains } = useI18n().messages.apps;
  const add = useApiMutation('addPublisherDomain', { refreshes: ['listPublisherDomains'] });
  const form = useForm({
    draft: 'domain',
    initial: { domain: '' },
    check: ({ domain }) => (HOST_NAME.test(domain.trim()) ? [] : [fault('domain', domains.invalid)]),
    submit: async ({ domain }) => {
      await add.mutateAsync({ body: { domain: domain.trim() } });
      form.reset({ domain: '' });
    },
    faultFor: ({ code }: ApiError) => {
      const refusals: Readonly<Record<string, string>> = domains.refusals;
      const text = refusals[code];
      return text === undefined ? undefined : fault('domain', text);
    },
  });
  return (
    <Form form={form} label={domains.add}>
      <TextField
        label={domains.domain}
        hint={domains.domainHint}
        value={form.values.domain}
        onChange={(domain) => form.set('domain', domain)}
        fault={form.faultOf('domain')}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        inputMode="url"
      />
      <div className="actions">
        <Button type="submit" busyLabel={form.isBusy ? domains.adding : undefined}>
          {domains.add}
        </Button>
      </div>
    </Form>
  );
};

const RemoveDialog = ({ domain, onClose }: { domain: PublisherDomain; onClose: () => void }): ReactElement => {
  const { apps, common } = useI18n().messages;
  const toast = useToast();
  const remove = useApiMutation('deletePublisherDomain', {
    refreshes: ['listPublisherDomains'],
    onDone: () => {
      toast(apps.domains.removed(domain.domain));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={apps.domains.removeTitle(domain.domain)}
      text={apps.domains.removeText}
      confirmLabel={apps.domains.remove}
      busyLabel={common.working}
      isBusy={remove.isPending}
      isDangerous
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { domain: domain.domain } })}
    />
  );
};
