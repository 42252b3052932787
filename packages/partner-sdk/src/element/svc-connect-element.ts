import { type BrowserApp, type BrowserConnection, createBrowserApp } from '../browser-app.ts';
import { ConnectError } from '../connect/connect-error.ts';
import type { BudgetProposal } from '../connect/connector.ts';

/** Texts of the button in one language. */
interface ElementTexts {
  readonly connect: string;
  readonly busy: string;
  readonly disconnect: string;
  readonly denied: string;
  readonly failed: string;
}

type ElementLocale = 'en' | 'it';

const elementTexts: Readonly<Record<ElementLocale, ElementTexts>> = {
  en: {
    connect: 'Connect your AI plan',
    busy: 'Connecting…',
    disconnect: 'Disconnect',
    denied: 'You chose not to connect.',
    failed: 'That did not work. Try again.',
  },
  it: {
    connect: 'Collega il tuo piano AI',
    busy: 'Collegamento…',
    disconnect: 'Scollega',
    denied: 'Hai scelto di non collegarti.',
    failed: 'Non ha funzionato. Riprova.',
  },
};

/** Styles of the button. Pages set the custom properties, or style `::part(button)` and `::part(message)`. */
const ELEMENT_STYLE = `
:host { display: inline-block; font: var(--svc-connect-font, inherit); }
:host([hidden]) { display: none; }
button {
  display: inline-flex; align-items: center; justify-content: center; gap: 0.5em;
  min-height: 2.75rem; padding: var(--svc-connect-padding, 0.5rem 1.125rem);
  font: inherit; font-weight: 600; cursor: pointer;
  color: var(--svc-connect-color, #fff); background: var(--svc-connect-background, #3a4fd0);
  border: 1px solid var(--svc-connect-border, transparent); border-radius: var(--svc-connect-radius, 0.5rem);
}
button:hover { filter: brightness(0.93); }
button:focus-visible { outline: 3px solid var(--svc-connect-focus, #3a4fd0); outline-offset: 2px; }
button[disabled], button[aria-disabled=true] { cursor: default; opacity: 0.65; filter: none; }
button[aria-busy=true]::before {
  content: ""; width: 1em; height: 1em; border: 2px solid; border-right-color: transparent; border-radius: 50%;
  animation: turn 0.8s linear infinite;
}
[hidden] { display: none; }
span:not(:empty) { display: block; margin-top: 0.375rem; }
@keyframes turn { to { rotate: 1turn; } }
@media (prefers-reduced-motion: reduce) { button[aria-busy=true]::before { animation: none; } }
`;

/** Events of `<svc-connect>`. They bubble. */
export interface SvcConnectEvents {
  /** A user is connected. Call the service through `element.app.client`. */
  'svc-connected': CustomEvent<BrowserConnection>;
  'svc-disconnected': CustomEvent<null>;
  /** The flow failed, or the user declined. The button says so too. */
  'svc-error': CustomEvent<{ readonly error: unknown }>;
}

// A server that renders pages imports the module too.
const Base = globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement);

/**
 * `<svc-connect base-url="…" client-id="app_…">`: a button that connects the user, and disconnects afterwards.
 *
 * Further attributes: `redirect-uri`, `scope`, `locale` (`en` or `it`; defaults to the language of the page),
 * `budget-micros` with `budget-currency` and `budget-period` (a limit to propose), `resume` (connects again after a
 * reload, without a page), `disabled`. Children replace the label; those with `slot="disconnect"` that of the connected
 * state. While a user is connected, the element has the attribute `connected`.
 */
export class SvcConnectElement extends Base {
  static readonly observedAttributes = ['base-url', 'client-id', 'locale', 'disabled'];

  readonly #button = document.createElement('button');
  readonly #connectLabel = document.createElement('slot');
  readonly #disconnectLabel = document.createElement('slot');
  readonly #message = document.createElement('span');
  #app: BrowserApp | undefined;
  #isBusy = false;
  #error: unknown;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(ELEMENT_STYLE);
    // Unlike a style element, it passes a strict content security policy.
    root.adoptedStyleSheets = [sheet];
    this.#button.type = 'button';
    this.#button.part.add('button');
    this.#button.addEventListener('click', () => void this.#click());
    this.#disconnectLabel.name = 'disconnect';
    this.#message.part.add('message');
    this.#message.setAttribute('role', 'status');
    this.#button.append(this.#connectLabel, this.#disconnectLabel);
    root.append(this.#button, this.#message);
  }

  /** The app behind the button; undefined until `base-url` and `client-id` are set. */
  get app(): BrowserApp | undefined {
    return this.#app;
  }

  connectedCallback(): void {
    addEventListener('pageshow', this.#onPageShow);
    this.#start();
  }

  disconnectedCallback(): void {
    removeEventListener('pageshow', this.#onPageShow);
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#start();
  }

  /** A page restored from the back-forward cache is no longer on its way. */
  readonly #onPageShow = ({ persisted }: PageTransitionEvent): void => {
    if (!persisted) return;
    this.#isBusy = false;
    this.#render();
  };

  #start(): void {
    const baseUrl = this.getAttribute('base-url');
    const clientId = this.getAttribute('client-id');
    if (this.#app === undefined && baseUrl !== null && clientId !== null) {
      const redirectUri = this.getAttribute('redirect-uri') ?? undefined;
      const scope = this.getAttribute('scope') ?? undefined;
      this.#app = createBrowserApp({ baseUrl, clientId, redirectUri, scope });
      void this.#complete(this.#app);
    }
    this.#render();
  }

  async #complete(app: BrowserApp): Promise<void> {
    await this.#run(async () => {
      const connection = await app.completeConnect();
      if (connection !== undefined) this.#tell('svc-connected', connection);
      // The browser leaves: the button stays busy.
      return connection === undefined && this.hasAttribute('resume') && (await app.resume());
    });
  }

  async #click(): Promise<void> {
    const app = this.#app;
    if (app === undefined || this.#isBusy) return;
    await this.#run(async () => {
      if (app.svcUserId === undefined) {
        await app.connect({ locale: this.#locale(), budget: this.#budget() });
        return true;
      }
      await app.disconnect().finally(() => this.#tell('svc-disconnected', null));
      return false;
    });
  }

  /** Runs an action while the button is busy. It stays so if the action returns true. */
  async #run(action: () => Promise<boolean>): Promise<void> {
    this.#isBusy = true;
    this.#error = undefined;
    this.#render();
    try {
      this.#isBusy = await action();
    } catch (error) {
      this.#isBusy = false;
      this.#error = error;
      this.#tell('svc-error', { error });
    }
    this.#render();
  }

  #tell<K extends keyof SvcConnectEvents>(name: K, detail: SvcConnectEvents[K]['detail']): void {
    // Listeners look at the attribute.
    this.#render();
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  #render(): void {
    const texts = elementTexts[this.#locale()];
    const isConnected = this.#app?.svcUserId !== undefined;
    this.toggleAttribute('connected', isConnected);
    this.#button.disabled = this.hasAttribute('disabled');
    // Unlike `disabled`, it keeps the focus.
    this.#button.ariaDisabled = String(this.#isBusy);
    this.#button.ariaBusy = String(this.#isBusy);
    this.#connectLabel.textContent = this.#isBusy ? texts.busy : texts.connect;
    this.#disconnectLabel.textContent = texts.disconnect;
    this.#connectLabel.hidden = isConnected;
    this.#disconnectLabel.hidden = !isConnected;
    this.#message.textContent = messageOf(this.#error, texts);
  }

  #locale(): ElementLocale {
    const own = this.getAttribute('locale') ?? this.closest('[lang]')?.getAttribute('lang') ?? navigator.language;
    return own.toLowerCase().startsWith('it') ? 'it' : 'en';
  }

  #budget(): BudgetProposal | undefined {
    const limit = this.getAttribute('budget-micros');
    const currency = this.getAttribute('budget-currency');
    if (limit === null || currency === null) return undefined;
    const asked = this.getAttribute('budget-period');
    const period = asked === 'month' || asked === 'total' ? asked : 'week';
    return { limitMicros: Number(limit), currency, period };
  }
}

declare global {
  interface HTMLElementEventMap extends SvcConnectEvents {}
  interface HTMLElementTagNameMap {
    'svc-connect': SvcConnectElement;
  }
}

const messageOf = (error: unknown, texts: ElementTexts): string => {
  if (error === undefined) return '';
  return error instanceof ConnectError && error.reason === 'denied' ? texts.denied : texts.failed;
};

/** Defines the element. Importing the entry does so in a page; a second call changes nothing. */
export const defineSvcConnect = (): void => {
  if (globalThis.customElements?.get('svc-connect') === undefined) {
    globalThis.customElements?.define('svc-connect', SvcConnectElement);
  }
};
