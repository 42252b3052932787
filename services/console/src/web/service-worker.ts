/** Files of the worker's release. The build replaces the placeholder with them. */
interface Release {
  readonly digest: string;
  readonly files: readonly string[];
}

/** Members of a service worker's global scope that the types of a page lack. */
interface WorkerScope {
  readonly addEventListener: <K extends keyof WorkerEvents>(
    type: K,
    listener: (event: WorkerEvents[K]) => void,
  ) => void;
  readonly skipWaiting: () => Promise<void>;
  readonly clients: { readonly claim: () => Promise<void> };
}

interface WorkerEvents {
  readonly install: ExtendableEvent;
  readonly activate: ExtendableEvent;
  readonly fetch: ExtendableEvent & {
    readonly request: Request;
    readonly respondWith: (answer: Promise<Response>) => void;
  };
}

interface ExtendableEvent {
  readonly waitUntil: (work: Promise<unknown>) => void;
}

const SHELL = '/index.html';
const CACHE_PREFIX = 'svc-shell-';
/** The current release and the one before it, from which open pages load their remaining scripts. */
const RELEASES_KEPT = 2;
/** Pages of the console. All others, such as sign-in and the documentation, come from the network only. */
const OWN_PAGES = /^\/(?:account|plans|connections|keys|wallet|usage|apps|o|organization|verify)?(?:\/|$)/;

// A worker's global scope has these members, although the types of a page call it a window.
const scope = self as unknown as WorkerScope;
const release: Release = JSON.parse('__RELEASE__');
const cacheName = `${CACHE_PREFIX}${release.digest}`;

const install = async (): Promise<void> => {
  const cache = await caches.open(cacheName);
  // The shell has the same name in every release, so the browser's cache may hold an older copy.
  await cache.addAll([...release.files, new Request(SHELL, { cache: 'reload' })]);
  await scope.skipWaiting();
};

const activate = async (): Promise<void> => {
  const names = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX) && name !== cacheName);
  const outdated = names.slice(0, Math.max(0, names.length - (RELEASES_KEPT - 1)));
  await Promise.all(outdated.map((name) => caches.delete(name)));
  await scope.clients.claim();
};

/** Returns the newest page if the service can be reached, else the stored one. */
const openPage = async (request: Request): Promise<Response> => {
  try {
    return await fetch(request);
  } catch (error) {
    const stored = await (await caches.open(cacheName)).match(SHELL);
    if (stored === undefined) throw error;
    return stored;
  }
};

const openAsset = async (request: Request): Promise<Response> =>
  (await caches.match(request)) ?? (await fetch(request));

scope.addEventListener('install', (event) => event.waitUntil(install()));
scope.addEventListener('activate', (event) => event.waitUntil(activate()));
scope.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate' && OWN_PAGES.test(pathname)) event.respondWith(openPage(request));
  else if (pathname.startsWith('/assets/')) event.respondWith(openAsset(request));
});
