// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Paths as kubelet, containerd, CRI-O, Docker, Podman, Slurm and systemd create them, with invented ids.
#include "core/text/cgroup_owner.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace rdma_exporter::core {

std::ostream& operator<<(std::ostream& out, const CgroupOwner& owner) {
  return out << static_cast<int>(owner.kind) << ' ' << owner.name << ' ' << owner.container;
}

namespace {

using Kind = CgroupOwner::Kind;

const std::string kId = "afc114c69e71f18166abd63715398d7daa763c69a6454f71157272ab0bdca783";
const std::string kOuter = "2403ccfe427f1dc7b6120dccb9ac58c2f8456950380d587a9f33ea7f00dd303d";
const std::string kUid = "40934a46-d409-4f4a-bb8b-1ec0b0436320";
const std::string kUnderscores = "40934a46_d409_4f4a_bb8b_1ec0b0436320";
const std::string kStatic = "b4e8e0dccaf34a43bf50f84ef5ef7a8f";

struct Case {
  std::string text;
  std::optional<CgroupOwner> owner;
};

void expect(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(parse_cgroup_owner(c.text), c.owner) << c.text;
}

TEST(CgroupOwner, FindsPods) {
  const CgroupOwner pod{Kind::pod, kUid, kId};
  const std::string burstable =
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + kUnderscores + ".slice";
  expect({
      // systemd driver: containerd, CRI-O, cri-dockerd; the three classes of service
      {"0::" + burstable + "/cri-containerd-" + kId + ".scope\n", pod},
      {"0::" + burstable + "/crio-" + kId + ".scope\n", pod},
      {"0::" + burstable + "/crio-" + kId + ".scope/container\n", pod},
      {"0::" + burstable + "/docker-" + kId + ".scope\n", pod},
      {"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kUnderscores +
           ".slice/cri-containerd-" + kId + ".scope\n",
       pod},
      {"0::/kubepods.slice/kubepods-pod" + kUnderscores + ".slice/cri-containerd-" + kId + ".scope", pod},
      // cgroupfs driver, v2 and v1
      {"0::/kubepods/burstable/pod" + kUid + "/" + kId + "\n", pod},
      {"0::/kubepods/pod" + kUid + "/" + kId + "\n", pod},
      {"11:memory:/kubepods/besteffort/pod" + kUid + "/" + kId +
           "\n10:rdma:/\n1:name=systemd:/kubepods/besteffort/pod" + kUid + "/" + kId +
           "\n0::/system.slice/containerd.service\n",
       pod},
      // the container is not known in every hierarchy
      {"4:rdma:/kubepods/burstable/pod" + kUid + "\n3:memory:/kubepods/burstable/pod" + kUid + "/" + kId +
           "\n",
       pod},
      {"0::" + burstable + "\n", CgroupOwner{Kind::pod, kUid, ""}},
      // containerd with the systemd name but without its driver
      {"1:name=systemd:/system.slice/containerd.service/kubepods-burstable-pod" + kUnderscores +
           ".slice:cri-containerd:" + kId + "\n",
       pod},
      // a static pod
      {"0::/kubepods/burstable/pod" + kStatic + "/" + kId, CgroupOwner{Kind::pod, kStatic, kId}},
      // a node that is a container itself (kind, k3d), and a container in a pod's container
      {"0::/docker/" + kOuter +
           "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
           "kubelet-kubepods-burstable-pod" +
           kUnderscores + ".slice/cri-containerd-" + kId + ".scope",
       pod},
      {"0::/docker/" + kOuter + "/kubelet/kubepods/besteffort/pod" + kUid + "/" + kId, pod},
      {"0::" + burstable + "/cri-containerd-" + kId + ".scope/docker/" + kOuter, pod},
      // seen from the cgroup namespace of another pod's container
      {"0::/../../kubepods-burstable-pod" + kUnderscores + ".slice/cri-containerd-" + kId + ".scope", pod},
      {"0::/../../pod" + kUid + "/" + kId, pod},
      {"0::/../cri-containerd-" + kId + ".scope", CgroupOwner{Kind::container, kId, ""}},
      // a job that Slurm runs inside a pod belongs to the pod
      {"0::" + burstable + "/cri-containerd-" + kId +
           ".scope/system.slice/slurmstepd.scope/job_7/step_0/user/task_0",
       pod},
  });
}

TEST(CgroupOwner, FindsSlurmJobs) {
  const CgroupOwner job{Kind::slurm_job, "123", ""};
  expect({
      {"0::/system.slice/slurmstepd.scope/job_123/step_0/user/task_0\n", job},
      {"0::/system.slice/slurmstepd.scope/job_123/step_batch/user/task_special\n", job},
      {"0::/system.slice/slurmstepd.scope/job_123/step_extern/slurm\n", job},
      {"0::/system.slice/gpu01_slurmstepd.scope/job_123/step_0/user/task_3\n", job},
      {"9:memory:/slurm/uid_1000/job_123/step_0/task_0\n8:cpuset:/slurm/uid_1000/job_123/step_0\n"
       "1:name=systemd:/system.slice/slurmd.service\n",
       job},
      {"9:devices:/slurm_gpu01/uid_1000/job_123/step_interactive\n", job},
      // a container that a job started (enroot and the like have none of their own)
      {"0::/system.slice/slurmstepd.scope/job_123/step_0/user/task_0/libpod-" + kId + ".scope", job},
      // the daemons are no job, and other things may be called job_1
      {"0::/system.slice/slurmstepd.scope/system\n", CgroupOwner{Kind::systemd_unit, "slurmstepd.scope", ""}},
      {"0::/system.slice/slurmd.service\n", CgroupOwner{Kind::systemd_unit, "slurmd.service", ""}},
      {"0::/build/job_123\n", std::nullopt},
      {"0::/slurm/uid_1000/job_/step_0\n", std::nullopt},
      {"0::/slurm/uid_1000/job_12x/step_0\n", std::nullopt},
  });
}

TEST(CgroupOwner, FindsContainers) {
  const CgroupOwner container{Kind::container, kId, ""};
  expect({
      {"0::/system.slice/docker-" + kId + ".scope\n", container},
      {"0::/docker/" + kId + "\n", container},
      {"12:net_cls,net_prio:/docker/" + kId + "\n10:rdma:/\n1:name=systemd:/docker/" + kId +
           "\n0::/system.slice/containerd.service\n",
       container},
      {"2:cpu:/" + kId + "\n", container},
      {"0::/machine.slice/libpod-" + kId + ".scope/container\n", container},
      {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId + ".scope/container\n",
       container},
      {"0::/default/" + kId + "\n", container},
      {"3:memory:/ecs/0b69d5c0d655460a8c0a5eb2be2e3ba2/" + kId + "\n", container},
      {"0::/docker/" + kOuter + "/docker/" + kId + "\n", container},
      {"0::/docker/buildkit/t4967jvf8rbufklrhkicskyes\n", std::nullopt},
  });
}

TEST(CgroupOwner, FindsUnits) {
  const auto unit = [](const std::string& name) { return CgroupOwner{Kind::systemd_unit, name, ""}; };
  expect({
      {"0::/system.slice/nfs-server.service\n", unit("nfs-server.service")},
      {"0::/system.slice/system-getty.slice/getty@tty1.service\n", unit("getty@tty1.service")},
      {"0::/user.slice/user-1000.slice/session-3.scope\n", unit("session-3.scope")},
      {"0::/user.slice/user-1000.slice/user@1000.service/app.slice/mpi.service\n", unit("mpi.service")},
      {"0::/init.scope\n", unit("init.scope")},
      {"12:rdma:/\n1:name=systemd:/system.slice/ssh.service\n0::/system.slice/ssh.service\n",
       unit("ssh.service")},
  });
}

TEST(CgroupOwner, TakesNothingFromOtherText) {
  expect({
      {"", std::nullopt},
      {"\n\n", std::nullopt},
      {"0::/\n", std::nullopt},
      {"0::\n", std::nullopt},
      {"0", std::nullopt},
      {"no colons at all /docker/" + kId, std::nullopt},
      {"0::/user.slice\n", std::nullopt},
      {"0::/kubepods/burstable/pod" + kUid.substr(1) + "\n", std::nullopt},
      {"0::/kubepods/burstable/podzz934a46-d409-4f4a-bb8b-1ec0b0436320\n", std::nullopt},
      {"0::/podinfo\n", std::nullopt},
      {"0::/" + kId.substr(1) + "\n", std::nullopt},
      {std::string("0::/\0/x.service", 15), CgroupOwner{Kind::systemd_unit, "x.service", ""}},
  });
}

}  // namespace
}  // namespace rdma_exporter::core
