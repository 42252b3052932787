import { isRoleEnough, type Role, roles, routes } from '@svc/contracts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { type PagePath, pageOperations } from '../../src/web/access/page-operations.ts';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish } from '../support/furnish.ts';
import { addMember, addPerson, openAs } from '../support/people.ts';

type OperationName = keyof typeof routes;

/** Buttons and links of pages, with the operation that each of them begins. */
const CONTROLS: readonly (readonly [path: PagePath, name: string, operation: OperationName])[] = [
  ['/keys', 'Create a key', 'createKey'],
  ['/keys', 'Manage Nightly report', 'updateKey'],
  ['/keys', 'Create a management key', 'createManagementKey'],
  ['/wallet', 'Go to checkout', 'createTopUp'],
  ['/wallet', 'Turn off', 'changeAutoTopUp'],
  ['/wallet', 'Account events', 'getAccountWebhook'],
  ['/wallet', 'Email alerts', 'getAlertSettings'],
  ['/plans', 'Open the billing portal', 'createPortalSession'],
  ['/plans', 'Set up', 'changeExtraUsage'],
  ['/usage', 'Email alerts', 'getAlertSettings'],
  ['/usage', 'Download CSV', 'listGatewayUsage'],
  ['/apps', 'Register an app', 'registerApp'],
  ['/apps', 'Check notes.example', 'checkPublisherDomain'],
  ['/apps', 'Remove notes.example', 'deletePublisherDomain'],
  ['/apps/:clientId', 'Save changes', 'updateApp'],
  ['/apps/:clientId', 'Replace the secret', 'rotateAppSecret'],
  ['/apps/:clientId', 'Delete the app', 'deleteApp'],
  ['/apps/:clientId/webhook', 'Change the destination', 'configureWebhook'],
  ['/apps/:clientId/webhook', 'Send a test event', 'testWebhook'],
  ['/organization/members', 'Invite a member', 'createInvitation'],
  ['/organization/members', 'Withdraw the invitation of guest@example.com', 'withdrawInvitation'],
  ['/organization/seats', 'Buy: Standard', 'changeSeats'],
  ['/organization/settings', 'Require a second factor', 'changeOrganizationSettings'],
  ['/organization/settings', 'Download the data', 'exportAccount'],
  ['/organization/settings', 'Delete the organization', 'deleteAccount'],
];

const NAVIGATION: readonly (readonly [name: string, path: PagePath])[] = [
  ['Overview', '/'],
  ['Plan', '/plans'],
  ['API keys', '/keys'],
  ['Wallet', '/wallet'],
  ['Usage', '/usage'],
  ['Apps', '/apps'],
  ['Members', '/organization/members'],
  ['Seats', '/organization/seats'],
  ['Usage by member', '/organization/usage'],
  ['Audit log', '/organization/audit'],
  ['Organization settings', '/organization/settings'],
];

const allows = (role: Role, operation: OperationName): boolean => {
  const route = routes[operation];
  return !('role' in route) || isRoleEnough(role, route.role);
};

/** Pages about the person open at the person's own address. */
const isOfOrganization = (path: PagePath): boolean => {
  const route = routes[pageOperations[path]];
  return !('role' in route) || route.role !== 'person';
};

describe.skipIf(!hasChromium())('what a role sees', () => {
  const console = useConsole();
  const browser = useBrowser();

  /** Goes to another page as a link does, and waits until all that it reads is there. */
  const visit = async (page: Page, path: string): Promise<void> => {
    await page.evaluate(`document.querySelector('h1').dataset.left = ''; history.pushState(null, '', '${path}')`);
    await page.locator('h1:not([data-left])').waitFor();
    await page.waitForLoadState('networkidle');
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  };

  // A refused call would be a complaint of the browser, which fails the test. The account has no webhook: 404.
  test.each(roles)('%s: pages and buttons are those whose operation the contract allows', async (role) => {
    browser.expectComplaints('404');
    const owner = addPerson(console, 'business');
    const app = furnish(console, owner);
    const { svc_user_id: id } = owner.account;
    const member = addMember(console, owner, { email: 'm@example.com', role });
    console.state.organizations.get(id)?.invitations.push({
      id: 'ivt_01jd0000000000000000000000',
      email: 'guest@example.com',
      role: 'viewer',
      expires_at: new Date().toISOString(),
    });
    const page = await openAs({ browser, console, person: member }, `/o/${id}`);
    const navigation = page.getByRole('navigation', { name: 'Main' });
    await page.waitForLoadState('networkidle');
    const links = await navigation.getByRole('link').allTextContents();
    const permitted = NAVIGATION.filter(([, path]) => allows(role, pageOperations[path])).map(([name]) => name);
    expect(links).toEqual([...permitted, 'Documentation']);
    const seen: string[] = [];
    const expected: string[] = [];
    for (const path of Object.keys(pageOperations).filter((name): name is PagePath => name in pageOperations)) {
      if (!isOfOrganization(path) || path.endsWith('/return')) continue;
      if (path !== '/') await visit(page, `/o/${id}${path.replace(':clientId', app.client_id)}`);
      const isOpen = allows(role, pageOperations[path]);
      const isRefused = await page.getByText('Your role does not allow this.').isVisible();
      expect(isRefused, `${path} as ${role}`).toBe(!isOpen);
      for (const [, name, operation] of CONTROLS.filter(([of]) => of === path)) {
        if (isOpen && allows(role, operation)) expected.push(`${path} ${name}`);
        const control = page
          .getByRole('main')
          .locator('button, a')
          .and(page.getByRole('button', { name, exact: true }).or(page.getByRole('link', { name, exact: true })));
        if ((await control.count()) > 0) seen.push(`${path} ${name}`);
      }
    }
    expect(seen).toEqual(expected);
    // Something to see, so that an empty page fails.
    if (role === 'owner') expect(seen).toHaveLength(CONTROLS.length);
  });
});
