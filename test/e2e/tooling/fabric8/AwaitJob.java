import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.ScalableResource;
import java.util.concurrent.TimeUnit;

/** What users of fabric8 do with Jobs: create, wait for a condition, delete, wait until it is gone. */
final class AwaitJob {
  private static final long LIMIT_SECONDS = 90;

  public static void main(String[] args) {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      var jobs = client.batch().v1().jobs().inNamespace(args[0]);
      Job created = jobs.load(System.in).create();
      ScalableResource<Job> job = jobs.withName(created.getMetadata().getName());
      job.waitUntilCondition(AwaitJob::isActive, LIMIT_SECONDS, TimeUnit.SECONDS);
      Job done = job.waitUntilCondition(each -> outcome(each) != null, LIMIT_SECONDS, TimeUnit.SECONDS);
      job.delete();
      Job gone = job.waitUntilCondition(each -> each == null, LIMIT_SECONDS, TimeUnit.SECONDS);
      JobStatus status = done.getStatus();
      System.out.printf(
          "{\"outcome\":\"%s\",\"succeeded\":%s,\"failed\":%s,\"gone\":%s}%n",
          outcome(done), status.getSucceeded(), status.getFailed(), gone == null);
    }
  }

  private static boolean isActive(Job job) {
    return job != null && job.getStatus().getActive() != null || outcome(job) != null;
  }

  private static String outcome(Job job) {
    if (job == null) return null;
    return job.getStatus().getConditions().stream()
        .filter(each -> "True".equals(each.getStatus()))
        .map(each -> each.getType())
        .filter(type -> type.equals("Complete") || type.equals("Failed"))
        .findFirst()
        .orElse(null);
  }
}
