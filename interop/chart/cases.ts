/** A set of values in `values`, and the objects that the chart makes of it, sorted. */
export interface ChartCase {
  readonly name: string;
  readonly objects: string;
}

/** Every set of values. */
export const CHART_CASES: readonly ChartCase[] = [
  {
    name: 'autoscaling',
    objects: 'HorizontalPodAutoscaler PodDisruptionBudget Service ServiceMonitor StatefulSet',
  },
  { name: 'extras', objects: 'CronJob PersistentVolumeClaim Service StatefulSet' },
  { name: 'gateway', objects: 'HTTPRoute PodDisruptionBudget Service StatefulSet' },
  { name: 'generated-token', objects: 'PersistentVolumeClaim Secret Service StatefulSet' },
  {
    name: 'network-policy',
    objects: 'NetworkPolicy PodDisruptionBudget Service Service ServiceMonitor StatefulSet',
  },
  { name: 'postgresql', objects: 'CronJob PodDisruptionBudget Service StatefulSet' },
  { name: 'publishing', objects: 'PodDisruptionBudget Service StatefulSet' },
  { name: 'relays', objects: 'Ingress PodDisruptionBudget Service StatefulSet' },
  { name: 'relays-autoscaling', objects: 'HorizontalPodAutoscaler PodDisruptionBudget Service StatefulSet' },
  { name: 'sign-on', objects: 'Ingress PodDisruptionBudget Service StatefulSet' },
  { name: 'sqlite', objects: 'PersistentVolumeClaim Service StatefulSet' },
  { name: 'workers', objects: 'PodDisruptionBudget Service StatefulSet' },
];

/** Options of Helm that the chart refuses, and what the refusal says. */
export const REFUSED: readonly (readonly [options: string, says: string])[] = [
  ['', 'Set adminToken.existingSecret'],
  ['adminToken.generate=true,replicas=2', "at '/replicas': maximum: got 2, want 1"],
  ['adminToken.generate=true,autoscaling.enabled=true', "at '/autoscaling/enabled': value must be false"],
  [
    'adminToken.generate=true,database.existingSecret=a,replicas=3,autoscaling.enabled=true',
    "at '/replicas'",
  ],
  ['relay.upstreams={https://a.example.com}', "at '/relay/existingSecret'"],
  ['relay.upstreams={a.example.com},relay.existingSecret=a', "at '/relay/upstreams/0'"],
  [
    'relay.upstreams={https://a.example.com},relay.existingSecret=a,database.existingSecret=b',
    "at '/database",
  ],
  ['adminToken.generate=true,settings.HALYARD_PORT=80', 'HALYARD_PORT'],
  ['adminToken.generate=true,settings.HALYARD_OIDC_CLIENT_SECRET=a', 'HALYARD_OIDC_CLIENT_SECRET'],
  ['adminToken.generate=true,secretSettings.HALYARD_METRICS_TOKEN.secret=a', "missing property 'key'"],
  ['adminToken.generate=true,backup.enabled=true', "at '/backup/existingClaim'"],
  ['adminToken.generate=true,workers=auto', 'Set resources.limits.cpu'],
  ['adminToken.generate=true,gateway.enabled=true', "at '/gateway/parentRefs'"],
  ['adminToken.generate=true,ingress.enable=true', "additional properties 'enable' not allowed"],
];
