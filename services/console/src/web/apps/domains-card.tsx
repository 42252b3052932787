import type { PublisherDomain } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { Permitted } from '../access/index.ts';
import { type ApiError, useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Card, Form, fault, Loaded, TextField, useForm } from '../ui/index.ts';
import { DomainItem } from './domain-item.tsx';

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
