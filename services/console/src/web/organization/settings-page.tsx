import { type ReactElement, useState } from 'react';
import { useLocation } from 'wouter';
import { Permitted } from '../access/index.ts';
import { DeleteAccountCard, OwnDataCard } from '../account/index.ts';
import { useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { foreignOrganizationOf, useAccount } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { Badge, Button, Card, ErrorNotice, Loaded, Page } from '../ui/index.ts';

/** Changes the rules for members. Owners also download and delete the organization's data. */
export const OrganizationSettingsPage = (): ReactElement => {
  const { rules } = useI18n().messages;
  const settings = useApiQuery('getOrganizationSettings', {}, { staleTime: 0 });
  // A business that is signed in finds its data in the settings of the account.
  const isForeign = foreignOrganizationOf(useAccount()) !== undefined;
  return (
    <Page title={rules.title} lead={rules.lead}>
      <Loaded query={settings} lines={3}>
        {({ second_factor_required }) => <SecondFactorCard isRequired={second_factor_required} />}
      </Loaded>
      {isForeign && (
        <>
          <Permitted to="exportAccount">
            <OwnDataCard />
          </Permitted>
          <Permitted to="deleteAccount">
            <DeleteOrganizationCard />
          </Permitted>
        </>
      )}
    </Page>
  );
};

const SecondFactorCard = ({ isRequired }: { isRequired: boolean }): ReactElement => {
  const { rules, common, extraUsage } = useI18n().messages;
  const toast = useToast();
  const [isAsking, setAsking] = useState(false);
  const change = useApiMutation('changeOrganizationSettings', {
    refreshes: ['getOrganizationSettings'],
    onDone: ({ second_factor_required }) => {
      toast(second_factor_required ? rules.factorOn : rules.factorOff);
      setAsking(false);
    },
  });
  const require = (second_factor_required: boolean): void => change.mutate({ body: { second_factor_required } });
  return (
    <Card
      title={rules.factor}
      lead={rules.factorLead}
      actions={<Badge tone={isRequired ? 'good' : 'neutral'}>{isRequired ? extraUsage.on : extraUsage.off}</Badge>}
    >
      <Permitted to="changeOrganizationSettings">
        <div className="actions">
          {isRequired ? (
            <Button busyLabel={change.isPending ? common.working : undefined} onClick={() => require(false)}>
              {rules.dropFactor}
            </Button>
          ) : (
            <Button onClick={() => setAsking(true)}>{rules.requireFactor}</Button>
          )}
        </div>
      </Permitted>
      {change.isError && !isAsking && <ErrorNotice error={change.error} />}
      {isAsking && (
        <ConfirmDialog
          onClose={() => setAsking(false)}
          title={rules.requireTitle}
          text={rules.requireText}
          confirmLabel={rules.requireFactor}
          busyLabel={common.working}
          isBusy={change.isPending}
          error={change.error}
          onConfirm={() => require(true)}
        />
      )}
    </Card>
  );
};

/** Deletes the organization, and goes back to the person's own account. */
const DeleteOrganizationCard = (): ReactElement => {
  const { rules } = useI18n().messages;
  const toast = useToast();
  const [, navigate] = useLocation();
  const name = useAccount().organization?.name ?? '';
  return (
    <DeleteAccountCard
      onDeleted={() => {
        toast(rules.deleted(name));
        navigate(linkTo(undefined));
      }}
    />
  );
};
