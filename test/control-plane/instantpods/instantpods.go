// Package instantpods stands in for kubelets: every Pod bound to a node starts, becomes ready and finishes at once, or
// after a set time, without a container.
//
// Annotations on a Pod steer it: instant-pods/exit-code (an integer, default 0) and instant-pods/run (a Go duration that
// overrides --run; "forever" keeps the Pod running until it is deleted).
package instantpods

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

type kubelet struct {
	client kubernetes.Interface
	pods   listers.PodLister
	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName]
	run    time.Duration
	node   string
}

func NewCommand() *cobra.Command {
	var kubeconfig string
	var workers int
	k := &kubelet{}
	c := &cobra.Command{
		Use:   "instant-pods",
		Short: "Runs every bound Pod to completion without a container",
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return err
			}
			config.QPS, config.Burst = 5000, 5000
			config.ContentType = "application/vnd.kubernetes.protobuf"
			k.client, err = kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			return k.serve(cmd.Context(), workers)
		},
	}
	c.Flags().StringVar(&kubeconfig, "kubeconfig", "", "cluster to serve")
	c.Flags().DurationVar(&k.run, "run", 0, "time a Pod runs")
	c.Flags().IntVar(&workers, "workers", 16, "Pods handled at once")
	c.Flags().StringVar(&k.node, "node", "", "bind Pods without a node to this one (in place of a scheduler)")
	return c
}

func (k *kubelet) serve(ctx context.Context, workers int) error {
	factory := informers.NewSharedInformerFactory(k.client, 0)
	informer := factory.Core().V1().Pods()
	k.pods = informer.Lister()
	k.queue = workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Second))
	push := func(object any) {
		if pod, ok := object.(*v1.Pod); ok && (pod.Spec.NodeName != "" || k.node != "") {
			k.queue.Add(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
		}
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    push,
		UpdateFunc: func(_, object any) { push(object) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for range workers {
		go func() {
			for k.next(ctx) {
			}
		}()
	}
	<-ctx.Done()
	k.queue.ShutDown()
	return nil
}

func (k *kubelet) next(ctx context.Context) bool {
	key, shutdown := k.queue.Get()
	if shutdown {
		return false
	}
	defer k.queue.Done(key)
	pod, err := k.pods.Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		k.queue.Forget(key)
		return true
	}
	if err := k.step(ctx, key, pod); err != nil && !apierrors.IsNotFound(err) {
		k.queue.AddRateLimited(key)
		return true
	}
	k.queue.Forget(key)
	return true
}

// step takes a Pod one state further; the watch event of its own write brings the Pod back for the next.
func (k *kubelet) step(ctx context.Context, key types.NamespacedName, pod *v1.Pod) error {
	pods := k.client.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.DeletionTimestamp != nil:
		if pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0 {
			return nil
		}
		return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64),
			Preconditions:      &metav1.Preconditions{UID: &pod.UID},
		})
	case pod.Spec.NodeName == "":
		return pods.Bind(ctx, &v1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
			Target:     v1.ObjectReference{Kind: "Node", Name: k.node},
		}, metav1.CreateOptions{})
	case pod.Status.Phase == v1.PodPending || pod.Status.Phase == "":
		return k.write(ctx, started(pod))
	case pod.Status.Phase == v1.PodRunning:
		wait, forever, err := k.left(pod)
		if err != nil || forever {
			return err
		}
		if wait > 0 {
			k.queue.AddAfter(key, wait)
			return nil
		}
		return k.write(ctx, finished(pod))
	}
	return nil
}

func (k *kubelet) left(pod *v1.Pod) (wait time.Duration, forever bool, err error) {
	run := k.run
	if value, set := pod.Annotations["instant-pods/run"]; set {
		if value == "forever" {
			return 0, true, nil
		}
		if run, err = time.ParseDuration(value); err != nil {
			return 0, false, fmt.Errorf("annotation instant-pods/run: %w", err)
		}
	}
	if run == 0 || pod.Status.StartTime == nil {
		return 0, false, nil
	}
	return time.Until(pod.Status.StartTime.Add(run)), false, nil
}

// write updates the status under optimistic locking: a stale cache must never undo what someone else wrote.
func (k *kubelet) write(ctx context.Context, pod *v1.Pod) error {
	_, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

func started(pod *v1.Pod) *v1.Pod {
	pod = pod.DeepCopy()
	now := metav1.Now()
	pod.Status.Phase = v1.PodRunning
	pod.Status.StartTime = &now
	setReady(pod, v1.ConditionTrue, now)
	pod.Status.ContainerStatuses = nil
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, v1.ContainerStatus{
			Name:  container.Name,
			Image: container.Image,
			Ready: true,
			State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: now}},
		})
	}
	return pod
}

func finished(pod *v1.Pod) *v1.Pod {
	pod = pod.DeepCopy()
	now := metav1.Now()
	var code int32
	if value := pod.Annotations["instant-pods/exit-code"]; value != "" {
		if _, err := fmt.Sscan(value, &code); err != nil {
			code = 1
		}
	}
	pod.Status.Phase = v1.PodSucceeded
	reason := "Completed"
	if code != 0 {
		pod.Status.Phase = v1.PodFailed
		reason = "Error"
	}
	setReady(pod, v1.ConditionFalse, now)
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		startedAt := now
		if status.State.Running != nil {
			startedAt = status.State.Running.StartedAt
		}
		status.Ready = false
		status.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, StartedAt: startedAt, FinishedAt: now,
		}}
	}
	return pod
}

func setReady(pod *v1.Pod, value v1.ConditionStatus, now metav1.Time) {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == v1.PodReady {
			pod.Status.Conditions[i].Status = value
			pod.Status.Conditions[i].LastTransitionTime = now
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions,
		v1.PodCondition{Type: v1.PodReady, Status: value, LastTransitionTime: now})
}
