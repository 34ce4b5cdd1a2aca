import { type KubernetesObject, type PodSpec, podOf } from './objects.ts';

/**
 * Checks what every set of values must give: names that fit together, and the pod security standard "restricted". Returns a
 * sentence for each rule that is broken.
 */
export function brokenRules(objects: readonly KubernetesObject[]): string[] {
  const pod = podOf(objects);
  return [
    ...unfittingNames(objects),
    ...duplicates('volume', pod.spec.volumes),
    ...duplicates('mount path', containerOf(pod.spec).volumeMounts, 'mountPath'),
    ...duplicates('variable', containerOf(pod.spec).env),
    ...unrestricted(pod.spec),
  ];
}

function containerOf(spec: PodSpec) {
  const [container, ...others] = spec.containers;
  if (container === undefined || others.length > 0) throw new Error('a pod has one container');
  return container;
}

function duplicates(what: string, list: readonly Readonly<Record<string, unknown>>[] = [], by = 'name') {
  const names = list.map((each) => String(each[by]));
  return names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => `the ${what} ${name} is there twice`);
}

/** Selectors that choose no pod, and ports and volumes that do not exist. */
function unfittingNames(objects: readonly KubernetesObject[]): string[] {
  const faults: string[] = [];
  const { labels, spec } = podOf(objects);
  const container = containerOf(spec);
  const ports = new Set(container.ports.map(({ name }) => name));
  const claims = objects.flatMap(({ spec: { volumeClaimTemplates = [] } }) =>
    volumeClaimTemplates.map(({ metadata }) => metadata.name),
  );
  const volumes = new Set([...(spec.volumes ?? []).map(({ name }) => name), ...claims]);

  for (const { kind, spec: each } of objects) {
    const chosen = each.selector?.matchLabels ?? each.podSelector?.matchLabels ?? each.selector;
    for (const [label, value] of Object.entries(chosen ?? {}))
      if (labels[label] !== value) faults.push(`${kind} chooses ${label}=${value}, which no pod has`);

    if (kind === 'Service')
      for (const { targetPort } of each.ports ?? [])
        if (!ports.has(String(targetPort))) faults.push(`Service: no port ${targetPort}`);

    const scaled = each.scaleTargetRef;
    if (scaled && !objects.some((other) => other.kind === scaled.kind && other.metadata.name === scaled.name))
      faults.push(`${kind} scales ${scaled.name}, which does not exist`);
  }
  for (const { name } of container.volumeMounts)
    if (!volumes.has(name)) faults.push(`no volume ${name} to mount`);
  return faults;
}

/** What the pod security standard "restricted" refuses. */
function unrestricted(spec: PodSpec): string[] {
  const { securityContext: container } = containerOf(spec);
  const kinds = new Set(['configMap', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret']);
  const wanted: readonly (readonly [string, boolean])[] = [
    ['a user other than root', spec.securityContext.runAsNonRoot === true],
    ['a profile of system calls', spec.securityContext.seccompProfile?.type === 'RuntimeDefault'],
    ['no privilege escalation', container.allowPrivilegeEscalation === false],
    ['no capabilities', Bun.deepEquals(container.capabilities, { drop: ['ALL'] })],
    ['a root file system that is only read', container.readOnlyRootFilesystem === true],
    [
      'no volumes of the machine',
      (spec.volumes ?? []).every((volume) =>
        Object.keys(volume).every((key) => key === 'name' || kinds.has(key)),
      ),
    ],
  ];
  return wanted.filter(([, holds]) => !holds).map(([rule]) => `the pod lacks: ${rule}`);
}
